import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { webhookPayload } from "@cloud-sandbox/protocol";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { savedImage, tarOf } from "../../packages/local/test/support/image-archives.js";
import { desktopPackages } from "../../scripts/host-packages.mjs";
import { type CodeBlock, codeBlocks, pages, root } from "../support/documents/code-blocks.js";
import {
  addedServer,
  type ConfiguredServer,
  configuredServers,
  linkedServer,
} from "../support/documents/mcp-configurations.js";
import { freePort } from "../support/free-port.js";
import { killedWithParent, type LocalServer, startLocalServer } from "../support/local-server.js";
import { needs } from "../support/needs.js";

const blocks = codeBlocks();
const of = (...languages: string[]): [string, CodeBlock][] =>
  blocks.filter(({ language }) => languages.includes(language)).map((block) => [block.place, block]);

/** The links to the built commands that `npm run build` makes, with which `npx --no NAME` starts them in this checkout. */
const commands = join(root, "node_modules", ".bin");
/**
 * Whether a block uses the installed command `cloud-sandbox`. The lines of such a block depend on each other: run it as
 * one script.
 */
const isSession = ({ code }: CodeBlock): boolean => /(?:^|\$\(|\| )cloud-sandbox (?!serve )[a-z]/m.test(code);
/**
 * Commands in the pages that are not run here, with the reason: they belong to other programs, or to this checkout,
 * which cannot run them inside its own tests.
 */
const notRunHere: readonly [RegExp, string][] = [
  [/^npm (test|run (setup|check|bench|demo|dev|build|pack|docs|generate|format))\b/, "npm"],
  [/^git clone /, "git"],
  [/^(claude|codex|gemini|code) /, "a client's own command; the server that it adds is started below"],
];

let directory: string;
let server: LocalServer;

beforeAll(async () => {
  // Use a directory inside the checkout: programs in it can import the packages by name, as if they were installed.
  mkdirSync(join(root, "node_modules", ".cache"), { recursive: true });
  directory = await mkdtemp(join(root, "node_modules", ".cache", "docs-"));
  const bin = join(directory, "bin");
  mkdirSync(bin);
  // npm's own npx takes ten times as long to start as what it starts. It takes an option that follows the name for its own.
  writeFileSync(
    join(bin, "npx"),
    `#!/bin/sh
case "$1 $3" in "--no -"*) exit 1 ;; "--no "*) ;; *) exit 1 ;; esac
name=$2
shift 2
exec ${commands}/"$name" "$@"\n`,
    { mode: 0o755 },
  );
  // Commands of the pages are typed in a checkout.
  symlinkSync(join(root, "packages"), join(directory, "packages"));
  symlinkSync(join(root, "packages/cli/bin/cloud-sandbox.js"), join(bin, "cloud-sandbox"));
  writeFileSync(join(directory, "image.tar"), savedImage({ layers: [tarOf([])] }));
  server = await startLocalServer({ args: ["--pool", "1"] });
});

afterAll(async () => {
  await server?.stop();
  if (directory !== undefined) await rm(directory, { recursive: true, force: true });
});

test("the pages have blocks of every kind that is tested here, and of no other", () => {
  const languages = new Set(blocks.map(({ language }) => language));
  expect([...languages].sort()).toEqual([
    "",
    "dockerfile",
    "ini",
    "json",
    "mermaid",
    "sh",
    "text",
    "toml",
    "ts",
    "yaml",
  ]);
  // The one for Docker is built by test/docker/image-with-agent.docker.test.ts. Blocks without a language are drawings. Blocks of the language text are not run: they show what programs print.
  for (const { code, language } of blocks)
    if (language === "") expect(code).not.toMatch(/^\s*(npm|npx|\$) /m);
});

test("every page is in the list of pages that the site shows beside them", () => {
  const site = readFileSync(join(root, "docs/.vitepress/config.mts"), "utf8");
  const listed = pages().filter(
    (page) => /^docs\/(guides\/)?[a-z0-9-]+\.md$/.test(page) && page !== "docs/index.md",
  );
  expect(listed.filter((page) => !site.includes(`"${page.slice(4, -3)}"`))).toEqual([]);
});

// Nobody owns the packages' names on npm yet: without --no, npx would download and run whatever somebody publishes under them.
test("no page tells a reader to run a package that is not published", () => {
  const commands = pages().flatMap((page) =>
    [...readFileSync(join(root, page), "utf8").matchAll(/^.*\bnpx (?!--no )[^`\n]*cloud-sandbox.*$/gm)].map(
      ([line]) => `${page}: ${line}`,
    ),
  );
  expect(commands).toEqual([
    "packages/mcp/README.md: After the first release, the command is `npx -y cloud-sandbox-mcp`.",
  ]);
});

test("links between files of the repository lead to files that are there", () => {
  const broken = pages().flatMap((page) =>
    [...readFileSync(join(root, page), "utf8").matchAll(/\]\(([^)#\s]+)(?:#[^)\s]*)?\)/g)]
      .map(([, target = ""]) => target)
      .filter((target) => !/^(\/|[a-z]+:)/.test(target) && !existsSync(join(root, dirname(page), target)))
      .map((target) => `${page}: ${target}`),
  );
  expect(broken).toEqual([]);
});

// docs/.vitepress/theme/style.css makes the column of a page 73 characters wide on a screen of 1280 pixels.
test("the first block of code of a page of the site can be read without scrolling", () => {
  const isFirst = ({ place, file }: CodeBlock): boolean =>
    /^docs\/(?!index)/.test(file) && blocks.find((block) => block.file === file)?.place === place;
  const wide = blocks.filter(isFirst).filter(({ code }) => code.split("\n").some((line) => line.length > 73));
  expect(wide.map(({ place }) => place)).toEqual([]);
});

describe("a block of TypeScript", () => {
  // CONTRIBUTING.md shows the inside of packages, which a program cannot import.
  const programs = of("ts").filter(([, { file }]) => file !== "CONTRIBUTING.md");
  const fileOf = (place: string): string => join(directory, `${place.replaceAll(/\W/g, "-")}.mts`);
  let errors: Map<string, string[]>;
  // Check the types of all blocks at once: the compiler spends most of its time on the libraries, which they share.
  beforeAll(async () => {
    for (const [place, { code }] of programs) writeFileSync(fileOf(place), code);
    errors = await typeErrors(programs.map(([place]) => fileOf(place)));
  });

  test.for(programs)("of %s is typed and runs", async ([place, { code }], { skip }) => {
    for (const { debian } of desktopPackages) skip(...needs(debian, /template\b.*"desktop"/.test(code)));
    skip(...needs("chromium", code.includes(".browser(")));
    skip(...needs("curl", /\bcurl\b/.test(code)));
    const file = fileOf(place);
    expect(errors.get(file)).toEqual([]);
    const { outputText } = ts.transpileModule(code, {
      compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext },
    });
    const program = file.replace(/\.mts$/, ".mjs");
    writeFileSync(program, outputText);
    const { code: status, stderr } = await run(process.execPath, [program], {
      CLOUD_SANDBOX_API_KEY: server.apiKey,
      CLOUD_SANDBOX_BASE_URL: server.url,
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  });
});

describe("a block of shell commands", () => {
  const scripts = (JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { scripts: object })
    .scripts;

  const [sessions, lines] = [true, false].map((wanted) =>
    of("sh").filter(([, block]) => isSession(block) === wanted),
  );

  test.each(sessions ?? [])(
    "of %s works as written, in one shell",
    { timeout: 240_000 },
    async (_, { code }) => {
      const { code: status, stderr } = await run("sh", ["-ec", `cd ${directory}\n${code}`], {
        ...environment(),
        CLOUD_SANDBOX_API_KEY: server.apiKey,
        CLOUD_SANDBOX_BASE_URL: server.url,
      });
      // That a list is empty is a note on standard error.
      const wrong = stderr.replace(/^cloud-sandbox: no \w+ yet; .*\n/gm, "");
      expect({ status, wrong }).toEqual({ status: 0, wrong: "" });
    },
  );

  test.for(lines ?? [])(
    "of %s works as written",
    { timeout: 240_000 },
    async ([, { code, file }], { skip }) => {
      for (const line of code
        .replaceAll("\\\n", " ")
        .trim()
        .split("\n")
        .filter((line) => line !== "" && !line.startsWith("#"))) {
        const script = /^npm (?:run )?(\w+)/.exec(line)?.[1];
        if (script !== undefined) expect(scripts).toHaveProperty(script);
        if (notRunHere.some(([pattern]) => pattern.test(line))) continue;
        if (/ serve | --transport http/.test(line)) await startsAndStops(line);
        else if (line.startsWith("curl ")) {
          skip(...needs("curl"));
          await againstServer(line, file);
        } else await succeeds(line);
      }
    },
  );
});

describe("a unit of systemd", () => {
  test.each(of("ini"))("of %s starts a server that stops as systemd stops it", async (_, { code }) => {
    const commandLine = /^ExecStart=\/usr\/bin\/node \/opt\/cloud-sandbox\/(.+)$/m.exec(code)?.[1] ?? "";
    const unit = join(directory, "cloud-sandbox.service");
    writeFileSync(unit, code.replace("/usr/bin/node", process.execPath));
    if (existsSync("/usr/bin/systemd-analyze"))
      expect(await run("systemd-analyze", ["verify", unit], environment())).toMatchObject({
        code: 0,
        stderr: "",
      });
    const line = onPort(0, commandLine.replace("/var/lib/cloud-sandbox", join(directory, "state")));
    const child = spawnServer([process.execPath, ...line.split(" ")], {
      cwd: root,
      env: { ...environment(), CLOUD_SANDBOX_API_KEY: "a-key-of-the-unit" },
    });
    await once(child.stdout, "data");
    child.kill("SIGTERM");
    expect(await once(child, "exit")).toEqual([0, null]);
  });
});

describe("a diagram", () => {
  test.each(of("mermaid"))("of %s names every package of the repository that runs", (_, { code }) => {
    for (const name of ["cloud-sandbox", "cloud-sandbox-mcp", "cloud-sandbox-cli", "cloud-sandbox-local"])
      expect(code).toContain(name);
  });
});

// YAML of Kubernetes is used by test/kubernetes and by kubernetes-placement.test.ts.
describe("a block of JSON or TOML that configures no MCP client", () => {
  const others = of("json", "toml").filter(([, block]) => configuredServers(block) === undefined);

  test.each(others)("of %s is a webhook's body", (_, { code }) => {
    const value: unknown = JSON.parse(code);
    expect(webhookPayload.parse(value)).toEqual(value);
  });
});

// Each server that a page tells an MCP client to start is started, and must answer a client.
describe("a configuration of an MCP client", () => {
  const inBlocks = of("json", "toml", "yaml").flatMap(([place, block]) =>
    (configuredServers(block) ?? []).map((server) => [place, server] as const),
  );
  const inCommands = of("sh").flatMap(([place, { code }]) =>
    code.split("\n").flatMap((line) => {
      const server = addedServer(line);
      return server === undefined ? [] : [[`${place} (${line.split(" ")[0]})`, server] as const];
    }),
  );
  const readme = readFileSync(join(root, "packages/mcp/README.md"), "utf8");
  const inLinks = [...readme.matchAll(/\[([^\]]+)\]\((https:\S+[?&]config=\S+)\)/g)].map(
    ([, client = "", link = ""]) => [`the link for ${client}`, linkedServer(new URL(link))] as const,
  );

  test("is there for each client, with one click for those that take it", () => {
    expect(inBlocks.length).toBeGreaterThanOrEqual(11);
    expect(inCommands.map(([place]) => place.replace(/^.*\(|\)$/g, "")).sort()).toEqual(
      expect.arrayContaining(["claude", "code", "codex", "gemini"]),
    );
    expect(inLinks.map(([place]) => place)).toEqual(["the link for Cursor", "the link for VS Code"]);
  });

  test.each([...inBlocks, ...inCommands, ...inLinks])(
    "of %s starts a server with tools",
    async (_, given) => {
      const profile = /--profile (\S+)/.exec(given.args.join(" "))?.[1] ?? "hopx";
      expect(await toolsOf(given)).toContain(toolOfProfile[profile]);
    },
  );
});

const toolOfProfile: Readonly<Record<string, string>> = {
  hopx: "execute_code_isolated",
  codemode: "sandbox_list_files",
  microsandbox: "sandbox_start",
  "code-executer": "start_code_executer",
};

/**
 * The tools of each server that was started, by its configuration. Most pages configure the same server: start it once.
 */
const started = new Map<string, Promise<string[]>>();

function toolsOf(configured: ConfiguredServer): Promise<string[]> {
  const key = JSON.stringify(configured);
  const tools = started.get(key) ?? listTools(configured);
  started.set(key, tools);
  return tools;
}

async function listTools({ command, args, env }: ConfiguredServer): Promise<string[]> {
  const transport = new StdioClientTransport({
    command,
    args: args.map((word) => word.replace("/path/to/checkout", root)),
    env: { ...env, ...environment() },
    stderr: "ignore",
  });
  const client = new Client({ name: "docs", version: "1.0.0" });
  await client.connect(transport);
  const { tools } = await client.listTools();
  await client.close();
  return tools.map(({ name }) => name);
}

/** Starts a server with a command of the page, waits until it is ready, interrupts it, and expects a clean exit. */
async function startsAndStops(line: string): Promise<void> {
  const child = spawnServer(["sh", "-c", `exec ${onPort(0, line)}`], {
    cwd: directory,
    env: environment(),
  });
  // Wait for a line on stderr from the MCP server: it writes only messages of the protocol to stdout.
  await once(/ --transport http/.test(line) ? child.stderr : child.stdout, "data");
  child.kill("SIGINT");
  expect(await once(child, "exit")).toEqual([0, null]);
}

/** Starts the server with the page's own command, and sends it a request with the page's curl command. */
async function againstServer(line: string, file: string): Promise<void> {
  const start = blocks.find((block) => block.file === file && / serve /.test(block.code))?.code.trim() ?? "";
  const [, written = ""] = ofPort.exec(start) ?? [];
  const port = await freePort();
  const child = spawnServer(["sh", "-c", `exec ${onPort(port, start)}`], {
    cwd: directory,
    env: environment(),
  });
  await once(child.stdout, "data");
  const asked = line.replace(`127.0.0.1:${written}`, `127.0.0.1:${port}`);
  expect(asked).not.toBe(line);
  const answer = await run("sh", ["-c", `${asked} --silent --show-error --fail`], environment());
  child.kill("SIGINT");
  await once(child, "exit");
  expect(answer).toMatchObject({ code: 0, stderr: "" });
  expect(JSON.parse(answer.stdout)).toBeTypeOf("object");
}

const ofPort = / --port (\d+)/;

/** A command with another port than the page's, or the default one, on which another program may listen. */
function onPort(port: number, line: string): string {
  return `${line.replace(ofPort, "")} --port ${port}`;
}

/** Starts a server that does not outlive these tests. */
function spawnServer(command: readonly string[], options: { cwd: string; env: Record<string, string> }) {
  const [setpriv, ...through] = killedWithParent;
  const child = spawn(setpriv, [...through, ...command], { ...options, stdio: ["ignore", "pipe", "pipe"] });
  child.stderr.pipe(process.stderr);
  return child;
}

async function succeeds(line: string): Promise<void> {
  const { code, stderr } = await run("sh", ["-c", line], environment());
  expect({ line, code, stderr }).toEqual({ line, code: 0, stderr: "" });
}

/**
 * The environment of a reader of the pages: the commands that they name come first on the path. Servers boot no sandbox in
 * advance, because most of them are only started and stopped.
 */
function environment(): Record<string, string> {
  return { PATH: `${join(directory, "bin")}:${process.env.PATH}`, HOME: directory, CLOUD_SANDBOX_POOL: "0" };
}

async function run(program: string, args: string[], env: Record<string, string>) {
  const child = spawn(program, args, {
    env: { PATH: process.env.PATH ?? "", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "exit"),
  ]);
  return { code: code as number | null, stdout, stderr };
}

/** The messages of the compiler for each of these files. The native compiler takes a fifth of the time of the other. */
async function typeErrors(files: readonly string[]): Promise<Map<string, string[]>> {
  const compilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    target: "es2022",
    module: "nodenext",
    // Treat each file as a module, so that no block sees names that another block declares.
    moduleDetection: "force",
    lib: ["es2023", "esnext.disposable", "dom"],
    types: ["node"],
  };
  const project = join(directory, "tsconfig.json");
  writeFileSync(project, JSON.stringify({ compilerOptions, files }));
  const compiler = join(root, "node_modules/typescript-native/bin/tsc");
  const words = [compiler, "--project", project, "--pretty", "false"];
  const { code, stdout, stderr } = await run(process.execPath, words, {});
  if (code !== 0 && stdout === "") expect.fail(stderr);
  const found = new Map(files.map((file) => [file, [] as string[]]));
  const ofAll: string[] = [];
  let errors = ofAll;
  for (const line of stdout.split("\n").filter((text) => text !== "")) {
    const [, file, message = line] = /^(\S.*?)\(\d+,\d+\): (.*)$/.exec(line) ?? [];
    // An indented line continues the error above it. Errors in sources that a block imports are left to other checks.
    if (!line.startsWith(" ")) errors = file === undefined ? ofAll : (found.get(resolve(file)) ?? []);
    errors.push(message);
  }
  expect(ofAll).toEqual([]);
  return found;
}
