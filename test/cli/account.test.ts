import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Ended, runBuilt } from "../support/built-program.js";
import { type CommandLine, startCommandLine } from "../support/command-line.js";
import { root } from "../support/documents/code-blocks.js";

const run = promisify(execFile);
let line: CommandLine;
let url: string;
let file: string;

beforeAll(async () => {
  line = await startCommandLine();
  url = line.env.CLOUD_SANDBOX_BASE_URL ?? "";
  file = join(line.directory, "cloud-sandbox", "login.json");
});
afterAll(() => line?.stop());
beforeEach(() => bare(["logout"]));

/** Runs the built command without a key in its environment, so that it can only use a stored login. */
function bare(args: readonly string[], input = "", env: Record<string, string> = {}): Promise<Ended> {
  return runBuilt("cli", args, { env: { XDG_CONFIG_HOME: line.directory, ...env }, input });
}

describe("cloud-sandbox login", () => {
  test("stores a key that the server accepts, readable for this user alone, and logout removes it", async () => {
    const told = await bare(["login", "--url", url, "--json"], "test-key\n");
    expect(told).toEqual({ code: 0, stdout: `${JSON.stringify({ url, path: file })}\n`, stderr: "" });
    expect(JSON.parse(await readFile(file, "utf8"))).toEqual({ url, apiKey: "test-key" });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(JSON.parse((await bare(["whoami", "--json"])).stdout)).toMatchObject({ url, keyFrom: "login" });
    expect(await bare(["sandbox", "list"])).toMatchObject({ code: 0, stdout: "" });
    expect(JSON.parse((await bare(["logout", "--json"])).stdout)).toEqual({ path: file, removed: true });
    expect((await bare(["sandbox", "list"])).stderr).toContain('"cloud-sandbox serve"');
  });

  test("stores no key that the server refuses", async () => {
    const { code, stderr } = await bare(["login", "--url", url], "wrong-key");
    expect({ code, stderr }).toEqual({ code: 125, stderr: expect.stringContaining("API key") });
    expect(stderr).not.toContain("wrong-key");
    await expect(stat(file)).rejects.toThrow("ENOENT");
  });

  test("a key in the environment comes first, and a stored key is sent only to its own address", async () => {
    await bare(["login", "--url", url], "test-key");
    const asked = await bare(["whoami", "--json"], "", { CLOUD_SANDBOX_BACKEND: "local" });
    expect(JSON.parse(asked.stdout)).toMatchObject({ backend: "local" });
    const elsewhere = await bare(["sandbox", "list", "--url", "http://127.0.0.1:9"]);
    expect(elsewhere).toMatchObject({
      code: 125,
      stderr: expect.stringContaining("no API key for http://127.0.0.1:9"),
    });
  });

  test.each([
    ["that others can read", '{"url":"http://127.0.0.1:9","apiKey":"secret"}', 0o644, /chmod 600/],
    ["that is no JSON", "secret", 0o600, /is not a login/],
  ])("a settings file %s is named in the error, without its content", async (_, content, mode, hint) => {
    await mkdir(join(line.directory, "cloud-sandbox"), { recursive: true });
    await writeFile(file, content);
    await chmod(file, mode);
    const { code, stderr } = await bare(["sandbox", "list"]);
    expect({ code, stderr }).toEqual({ code: 125, stderr: expect.stringMatching(hint) });
    expect(stderr).not.toContain("secret");
  });

  test("a login without a key is an error", async () => {
    expect(await bare(["login", "--url", url], "\n")).toMatchObject({
      code: 125,
      stderr: expect.stringContaining("no key"),
    });
  });
});

test("cloud-sandbox serve prints what to type in another terminal to use it", async () => {
  const server = spawn(process.execPath, [join(root, "packages/cli/dist/main.js"), "serve", "--pool", "0"], {
    env: { PATH: process.env.PATH },
    stdio: ["ignore", "pipe", "ignore"],
  });
  let printed = "";
  server.stdout.setEncoding("utf8").on("data", (piece: string) => {
    printed += piece;
  });
  try {
    await expect.poll(() => printed, { timeout: 20_000 }).toMatch(/^ {2}export .*\n/m);
    const [, typed = ""] = /^ {2}(export .*)$/m.exec(printed) ?? [];
    const through = ["sh", "-c", `${typed}; exec "$@"`, "sh"];
    const { code, stdout } = await runBuilt("cli", ["sandbox", "create", "-q"], { env: {}, through });
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^\w+\n$/) });
  } finally {
    server.kill();
    if (server.exitCode === null) await once(server, "exit");
  }
});

describe("cloud-sandbox completion", () => {
  test("offers commands and options in bash", async () => {
    const script = join(line.directory, "completion.bash");
    await writeFile(script, (await bare(["completion", "bash"])).stdout);
    const offered = async (...words: string[]): Promise<string> => {
      const typed = ["cloud-sandbox", ...words].map((word) => `'${word}'`).join(" ");
      const call = `. ${script}; COMP_WORDS=(${typed}); COMP_CWORD=${words.length}; _cloud_sandbox; echo "\${COMPREPLY[@]}"`;
      return (await run("bash", ["-c", call])).stdout.trim();
    };
    expect(await offered("te")).toBe("template");
    expect(await offered("sandbox", "cr")).toBe("create");
    expect(await offered("sandbox", "exec", "--w")).toBe("--workdir");
    expect(await offered("sandbox", "get", "--json", "nope", "--q")).toBe("--quiet");
    // What follows an option with a value is no other option.
    expect(await offered("run", "--language", "")).toBe("python javascript typescript bash go");
    expect(await offered("run", "--language", "b")).toBe("bash");
    expect(await offered("run", "--internet", "")).toBe("on off");
    expect(await offered("sandbox", "list", "--status", "pa")).toBe("paused");
    expect(await offered("run", "-e", "")).toBe("");
    expect(await offered("run", "--mount", "")).toBe("");
    expect(await offered("run", "--json", "--q")).toBe("--quiet");
  });

  test.each(["zsh", "fish"])(
    "has a script for %s, which that shell reads where it is installed",
    async (shell) => {
      const { code, stdout } = await bare(["completion", shell]);
      expect(code).toBe(0);
      expect(stdout).toContain("sandbox create");
      const isThere = await run(shell, ["-c", "true"]).then(
        () => true,
        () => false,
      );
      if (!isThere) return;
      const script = join(line.directory, `completion.${shell}`);
      await writeFile(script, stdout);
      expect((await run(shell, ["--no-execute", script])).stderr).toBe("");
    },
  );

  test("names the shells that it knows", async () => {
    expect(await bare(["completion", "csh"])).toMatchObject({
      code: 125,
      stderr: expect.stringContaining("bash, zsh, fish"),
    });
  });
});

test("help ends quietly if its reader goes away", async () => {
  const main = join(root, "packages/cli/dist/main.js");
  const command = `"$0" "$1" --help | true; echo "$PIPESTATUS"`;
  const { stderr, stdout } = await run("bash", ["-c", command, process.execPath, main]);
  expect(stderr).toBe("");
  expect(stdout).toMatch(/^(0|141)\n$/);
});

test.each([
  [["doctor"], /Sandboxes can be started here/],
  [["mcp", "serve", "--help"], /--profile/],
  [["serve", "--help"], /--data-dir/],
  [["help", "sandbox"], /shell/],
])("the arguments %j are answered by the program that they belong to", async (args, expected) => {
  const { code, stdout } = await bare(args);
  expect(code).toBe(0);
  expect(stdout).toMatch(expected);
});
