import { execFile } from "node:child_process";
import { lstat, mkdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CommandLine, startCommandLine } from "../support/command-line.js";
import { root } from "../support/documents/code-blocks.js";
import { otherNode, scratchProject } from "../support/scratch-project.js";

const main = join(root, "packages/cli/dist/main.js");
const secret = "a-secret-of-the-command-line";
let line: CommandLine;
let install: string;
let config: string;

beforeAll(async () => {
  line = await startCommandLine();
  const program = await readFile(join(root, "test/mcp-runner/server.py"), "utf8");
  install = `cat > /opt/server.py <<'END'\n${program}\nEND`;
  config = join(line.directory, "cloud-sandbox", "mcp.json");
});
afterAll(() => line?.stop());

const start = "python3 /opt/server.py";

async function sandboxes(): Promise<number> {
  let count = 0;
  for await (const _ of line.client.sandboxes.list()) count += 1;
  return count;
}

/**
 * The commands of the program e2b-mcp, from the table of its documentation: usage, options, and the arguments of a call
 * here.
 */
const commands: readonly [string, string[], () => string[]][] = [
  [
    "server add NAME --command CMD [--env K=V …] [--install-commands CMD …] [--description D] [--timeout MIN (10)]",
    ["--command", "--env", "--install-commands", "--description", "--timeout"],
    () => [
      ...["server", "add", "plain", "--command", start, "--env", `SECRET_KEY=${secret}`, "OTHER=1"],
      ...["--install-commands", install, "--description", "for the test", "--timeout", "5"],
    ],
  ],
  ["server list [--json]", ["--json"], () => ["server", "list", "--json"]],
  ["tools list NAME [--json]", ["--json"], () => ["tools", "list", "plain", "--json"]],
  [
    "tools execute NAME TOOL [--params JSON] [--param k=v …] [--json]",
    ["--params", "--param", "--json"],
    () => [
      "tools",
      "execute",
      "plain",
      "echo",
      "--params",
      '{"text":"a"}',
      "--param",
      "text=b",
      "c=1",
      "--json",
    ],
  ],
  [
    "quick CMD TOOL [--params …] [--param …] [--env …] [--json]",
    ["--params", "--param", "--env", "--json"],
    () => [
      ...["quick", start, "variable", "--param", "name=SECRET_KEY", "--env", "SECRET_KEY=short"],
      ...["--install-commands", install, "--json"],
    ],
  ],
  ["config [--show|--edit|--reset]", ["--show", "--edit", "--reset"], () => ["config", "--show"]],
  ["server remove NAME [--yes]", ["--yes"], () => ["server", "remove", "plain", "--yes"]],
];
const printed = new Map<string, string>();

describe("cloud-sandbox mcp", () => {
  test.each(commands)("has %s", async (row, options, words) => {
    const given = words();
    const name = row
      .split(" ")
      .filter((word) => /^[a-z]/.test(word))
      .slice(0, given[1]?.match(/^(add|list|remove|execute)$/) ? 2 : 1);
    const help = await line.output("mcp", ...name, "--help");
    for (const option of options) expect(help).toContain(option);
    printed.set(name.join(" "), await line.output("mcp", ...given));
    expect(await sandboxes()).toBe(0);
  });

  test("prints what each of them found, and no secret", () => {
    expect(JSON.parse(printed.get("server list") ?? "")).toMatchObject([
      { name: "plain", command: start, timeoutMinutes: 5, env: { SECRET_KEY: "***", OTHER: "***" } },
    ]);
    const tools = JSON.parse(printed.get("tools list") ?? "") as { name: string }[];
    expect(tools.map(({ name }) => name)).toContain("echo");
    expect(JSON.parse(printed.get("tools execute") ?? "").content).toEqual([{ type: "text", text: "b" }]);
    expect(JSON.parse(printed.get("quick") ?? "").content).toEqual([{ type: "text", text: "short" }]);
    expect(printed.get("config")).toContain(config);
    expect([...printed.values()].join()).not.toContain(secret);
  });

  test("keeps the servers in a file that nobody else can read", async () => {
    await line.output("mcp", "server", "add", "a", "--command", "a");
    expect((await stat(config)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(config, "utf8"))).toEqual({
      version: 1,
      servers: { a: { command: "a" } },
    });
    await line.output("mcp", "server", "remove", "a", "-y");
  });

  test("loses no server when several are added at the same time", async () => {
    const names = ["a", "b", "c", "d", "e"];
    await Promise.all(names.map((name) => line.output("mcp", "server", "add", name, "--command", name)));
    expect((await line.output("mcp", "server", "list", "-q")).trim().split("\n").sort()).toEqual(names);
    await line.output("mcp", "config", "--reset", "--yes");
    const none = { code: 0, stdout: "", stderr: expect.stringContaining("mcp server add") };
    expect(await line.run(["mcp", "server", "list"])).toEqual(none);
    expect(await line.output("mcp", "server", "list", "--json")).toBe("[]\n");
    expect(Object.keys(JSON.parse(await readFile(`${config}.bak`, "utf8")).servers)).toHaveLength(5);
  });

  test("accepts an edit of the file that is valid, and no other", async () => {
    const editor = (script: string) => ({ ...line.env, EDITOR: `sh -c '${script}' edit` });
    const { runBuilt } = await import("../support/built-program.js");
    const right = `echo "{\\"servers\\":{\\"edited\\":{\\"command\\":\\"x\\"}}}" > "$1"`;
    expect(await runBuilt("cli", ["mcp", "config", "--edit"], { env: editor(right) })).toMatchObject({
      code: 0,
    });
    expect(await line.output("mcp", "server", "list", "-q")).toBe("edited\n");
    const wrong = `echo "{\\"servers\\":{\\"edited\\":{}}}" > "$1"`;
    const refused = await runBuilt("cli", ["mcp", "config", "--edit"], { env: editor(wrong) });
    expect(refused).toMatchObject({
      code: 125,
      stderr: expect.stringMatching(/line 1: Server "edited": command/),
    });
    expect(await line.output("mcp", "server", "list", "-q")).toBe("edited\n");
    await line.output("mcp", "config", "--reset", "-y");
  });

  test.each([
    ["that is no JSON", '{\n  "servers": {\n    "a" {}\n  }\n}', /line 3: is no JSON/],
    [
      "with a wrong key",
      '{\n  "servers": {\n    "a": {\n      "command": "x",\n      "env": { "K": 5 }\n    }\n  }\n}',
      /line 5: Server "a": env\.K/,
    ],
    [
      "with an unknown key",
      '{"servers": {\n"a": {"command": "x",\n"comand": "y"}}}',
      /line 3: .*unknown keys: comand/,
    ],
    ["of a newer version", '{"version": 9, "servers": {}}', /newer version/],
  ])("names the line in a file %s", async (_, text, message) => {
    await mkdir(join(line.directory, "cloud-sandbox"), { recursive: true });
    await writeFile(config, text, { mode: 0o600 });
    const { code, stderr } = await line.run(["mcp", "server", "list"]);
    expect({ code, lines: stderr.trim().split("\n").length }).toEqual({ code: 125, lines: 1 });
    expect(stderr).toMatch(message);
    await line.output("mcp", "config", "--reset", "-y");
  });

  test("refuses a file that others can read", async () => {
    await writeFile(config, "{}");
    const { chmod } = await import("node:fs/promises");
    await chmod(config, 0o644);
    expect((await line.run(["mcp", "server", "list"])).stderr).toContain(`chmod 600 ${config}`);
    await chmod(config, 0o600);
  });

  test.each([
    ["an unknown server", ["tools", "list", "nope"], /There is no server "nope"/],
    ["params that are no JSON", ["tools", "execute", "x", "t", "--params", "{a"], /--params is not JSON/],
    ["a param without a value", ["tools", "execute", "x", "t", "--param", "a"], /NAME=value/],
    [
      "a name that is none",
      ["server", "add", "a b", "--command", "x"],
      /^cloud-sandbox: "a b" .*letters, digits/,
    ],
    ["no command", ["server", "add", "a"], /--command/],
    [
      "arguments after an option that takes them too",
      ["quick", "--allow", "a.example", "x", "t"],
      /<tool>\. Options/,
    ],
    ["the same, of pairs", ["quick", "--env", "A=b", "x", "t"], /NAME=value\. Options that take several/],
    ["two ways at once", ["config", "--show", "--reset"], /cannot be used with/],
    ["a removal that nobody confirms", ["server", "remove", "kept"], /--yes/],
    ["a file that is not there", ["import", "/no/such/file.json"], /\/no\/such\/file.json cannot be read/],
    ["a device", ["import", "/dev/zero"], /\/dev\/zero cannot be read \(it is no regular file\)/],
    ["an unknown tool", ["tools", "execute", "kept", "nope"], /[a-z]\. The server's tools are: echo/],
    ["a server that ends", ["tools", "execute", "kept", "exit"], /ended with exit code 3/],
    ["an install that fails", ["quick", "x", "t", "--install-commands", "echo broken; exit 3"], /broken/],
    ["a program that is not there", ["quick", "no-such-program", "t"], /no-such-program/],
  ])("tells %s in one line, and leaves no sandbox", async (_, words, message) => {
    if (!(await line.output("mcp", "server", "list", "-q")).includes("kept"))
      await line.output("mcp", "server", "add", "kept", "--command", start, "--install-commands", install);
    const { code, stderr, stdout } = await line.run(["mcp", ...words]);
    expect({ code, stdout, lines: stderr.trim().split("\n").length }).toEqual({
      code: 125,
      stdout: "",
      lines: 1,
    });
    expect(stderr).toMatch(message);
    expect(await sandboxes()).toBe(0);
  });

  test("lists the parameters of tools, and which may be left out", async () => {
    const listed = await line.output("mcp", "tools", "list", "kept");
    expect(listed).toMatch(/^TOOL +PARAMETERS +DESCRIPTION\necho +text\? +-\nlength +- +-\nlarge +size +-$/m);
  });

  test("lets no server control the terminal, with a result or with a line that is no message", async () => {
    const shown = await line.run(["mcp", "tools", "execute", "kept", "escapes"]);
    expect(shown.stdout).toMatch(
      /^\[audio: audio\/wav.\[31m, 4 characters.*\n\{"type":"resource".*31m"\}\}\n$/,
    );
    const params = {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "t", version: "1" },
    };
    const messages = [
      { id: 1, method: "initialize", params },
      { id: 2, method: "tools/call", params: { name: "escapes" } },
    ].map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    const run = await line.run(["mcp", "run", "kept"], messages.join(""));
    expect(run.stderr).toContain("not an MCP message: noise");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these characters must not be there.
    expect(shown.stdout + shown.stderr + run.stderr).not.toMatch(/[\u001b\u009b]/);
  });

  test("installs a server once for two commands at the same time, and both get their answer", async () => {
    const slow = `${install}\nsleep 1`;
    const quick = ["mcp", "quick", start, "echo", "--param", "text=both", "--install-commands", slow];
    const layers = async (): Promise<string[]> => {
      const names: string[] = [];
      for await (const { name } of line.client.templates.list())
        if (name.startsWith("mcp-")) names.push(name);
      return names;
    };
    const before = await layers();
    const ended = await Promise.all([line.run(quick), line.run(quick)]);
    expect(ended).toEqual([1, 2].map(() => ({ code: 0, stdout: "both\n", stderr: "" })));
    expect(await layers()).toHaveLength(before.length + 1);
    expect(await sandboxes()).toBe(0);
  });

  test("runs a server to its end, also if its input ends before its answer", async () => {
    // Longer than the 2 s that a server has to end when its input has ended.
    const slow = `sh -c 'sleep 3; exec ${start}'`;
    await line.output("mcp", "server", "add", "piped", "--command", slow, "--install-commands", install);
    const params = {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "t", version: "1" },
    };
    const request = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params });
    const { code, stderr, stdout } = await line.run(["mcp", "run", "piped"], `{broken\n${request}\n`);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining("is not JSON") });
    expect(
      stdout
        .trimEnd()
        .split("\n")
        .map((each) => JSON.parse(each)),
    ).toMatchObject([
      { id: null, error: { code: -32_700 } },
      { id: 1, result: { protocolVersion: "2025-06-18" } },
    ]);
    expect(await sandboxes()).toBe(0);
    await line.output("mcp", "server", "remove", "piped", "--yes");
  });

  test("answers what the assistant asked when a server ends before, and says once why", async () => {
    const failing = "sh -c 'echo no such package >&2; exit 4'";
    await line.output("mcp", "server", "add", "failing", "--command", failing);
    const requests = [1, "two"].map((id) => `${JSON.stringify({ jsonrpc: "2.0", id, method: "ping" })}\n`);
    const { code, stderr, stdout } = await line.run(["mcp", "run", "failing"], requests.join(""));
    const why = "The server ended with exit code 4 before it answered. It wrote: no such package.";
    expect({ code, stderr }).toEqual({
      code: 125,
      stderr: expect.stringMatching(new RegExp(`^cloud-sandbox: ${why}.*\n$`)),
    });
    const answers = stdout
      .trimEnd()
      .split("\n")
      .map((each) => JSON.parse(each));
    expect(answers).toEqual(
      [1, "two"].map((id) => ({ jsonrpc: "2.0", id, error: { code: -32_603, message: why } })),
    );
    await line.output("mcp", "server", "remove", "failing", "--yes");
  });

  test("takes over the servers of assistants and of e2b-mcp", async () => {
    const file = join(line.directory, "theirs.json");
    await writeFile(
      file,
      JSON.stringify({
        mcpServers: {
          here: {
            type: "stdio",
            command: "npx",
            args: ["-y", "x"],
            env: { K: "v" },
            trust: true,
            timeout: 60,
          },
          there: { url: "https://example.com/mcp" },
          kept: { command: "other" },
          sandboxed: { command: "npx", args: ["-y", "cloud-sandbox-cli", "mcp", "run", "sandboxed"] },
          // As the SDK for Python writes it, whose command is called mcp.
          python: { command: "uv", args: ["run", "--with", "mcp[cli]", "mcp", "run", "/opt/server.py"] },
        },
      }),
    );
    const e2b = join(line.directory, "servers.json");
    await writeFile(
      e2b,
      JSON.stringify({
        old: { command: "python -m s", install_commands: ["pip install s"], timeout_minutes: 3 },
      }),
    );
    expect(await line.json("mcp", "import", file, e2b)).toEqual([
      { name: "here", from: file, result: "added", leftOut: ["trust", "timeout"] },
      { name: "there", from: file, result: "runs elsewhere" },
      { name: "kept", from: file, result: "there already" },
      { name: "sandboxed", from: file, result: "wrapped" },
      { name: "python", from: file, result: "added" },
      { name: "old", from: e2b, result: "added" },
    ]);
    const again = await line.run(["mcp", "import", file]);
    expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining("--replace") });
    const { stderr } = await line.run(["mcp", "import", file, "--replace"]);
    expect(stderr).toContain("server here has no trust, timeout: only the other program knows these keys.");
    expect(await line.json("mcp", "server", "list")).toMatchObject([
      { name: "kept" },
      { name: "here", args: ["-y", "x"], env: { K: "***" } },
      { name: "python" },
      { name: "old", installCommands: ["pip install s"], timeoutMinutes: 3 },
    ]);
  });

  test("takes over what it can of a file, and says what is wrong with the rest", async () => {
    const file = join(line.directory, "mixed.json");
    await writeFile(
      file,
      `{ "mcpServers": {
        "My Server": { "command": "a" },
        "odd": { "command": 1 },
        "sound": { "command": "c" } } }`,
    );
    const { code, stdout, stderr } = await line.run(["mcp", "import", file, "--json"]);
    expect(JSON.parse(stdout)).toEqual([
      { name: "My Server", from: file, result: "invalid" },
      { name: "odd", from: file, result: "invalid" },
      { name: "sound", from: file, result: "added" },
    ]);
    expect([code, JSON.parse(stderr).error.message]).toEqual([
      125,
      expect.stringMatching(
        /^2 of 3 entries .* line 2: "My Server" cannot be the name .* line 3: .*"odd": command/,
      ),
    ]);
    await line.output("mcp", "server", "remove", "sound", "--yes");
  });

  test("wraps servers at the same time, and keeps the file as it was before each", async () => {
    const file = join(line.directory, "both.json");
    const theirs = { command: "c", keyOfAnotherProgram: 60 };
    const entries = { left: { command: "a", trust: true }, right: { command: "b" }, "Their Server": theirs };
    const before = JSON.stringify({ mcpServers: entries });
    await writeFile(file, before);
    const names = ["left", "right"];
    const wrapped = names.map((name) => line.json("mcp", "wrap", name, "--config", file, "--yes"));
    const backups = (await Promise.all(wrapped)).map((done) => (done as { backup: string }).backup);
    const { mcpServers } = JSON.parse(await readFile(file, "utf8"));
    // Without --launcher, assistants start this very command.
    for (const name of names)
      expect(mcpServers[name]).toMatchObject({ command: process.execPath, args: [main, "mcp", "run", name] });
    expect([mcpServers.left.trust, mcpServers["Their Server"]]).toEqual([true, theirs]);
    const kept = await Promise.all(backups.map((path) => readFile(path, "utf8")));
    expect(kept).toHaveLength(new Set(kept).size);
    expect(kept).toContain(before);
    for (const name of names) await line.output("mcp", "server", "remove", name, "--yes");
  });

  test("wraps a server in a file of Windows, and keeps its marks", async () => {
    const file = join(line.directory, "windows.json");
    await writeFile(
      file,
      '\uFEFF{\r\n  // mine\r\n  "mcpServers": { "windows": { "command": "a" } }\r\n}\r\n',
    );
    await line.json("mcp", "wrap", "windows", "--config", file, "--yes");
    const after = await readFile(file, "utf8");
    expect(after).toMatch(/^\uFEFF\{\r\n {2}\/\/ mine\r\n/);
    expect(after).not.toMatch(/[^\r]\n/);
    await line.output("mcp", "server", "remove", "windows", "--yes");
  });

  test("refuses a file that has an entry twice, of which assistants use the other one", async () => {
    const file = join(line.directory, "twice.json");
    const text = '{\n"mcpServers": {\n"a": { "command": "first" },\n"a": { "command": "second" }\n}\n}';
    await writeFile(file, text);
    const { code, stderr } = await line.run(["mcp", "wrap", "a", "--config", file, "--yes"]);
    expect({ code, stderr }).toEqual({
      code: 125,
      stderr: expect.stringMatching(/line 4: there is a second "a"/),
    });
    expect(await readFile(file, "utf8")).toBe(text);
  });

  test("stores no server if its assistant's file cannot be changed", async () => {
    // No other name next to the file can be longer than its own. Root may write everywhere else.
    const file = join(line.directory, `${"x".repeat(245)}.json`);
    await writeFile(file, '{"mcpServers": {"stuck": {"command": "a"}}}');
    const { code, stderr } = await line.run(["mcp", "wrap", "stuck", "--config", file, "--yes"]);
    expect({ code, stderr }).toEqual({ code: 125, stderr: expect.stringContaining("nothing was changed") });
    expect(await line.output("mcp", "server", "list", "--json")).not.toContain("stuck");
  });

  test("wraps a server of an assistant, which then runs in a sandbox", { timeout: 600_000 }, async () => {
    // The configuration is often a link into a directory of dotfiles.
    const file = join(line.directory, "assistant.json");
    const link = join(line.directory, "assistant-link.json");
    await symlink("assistant.json", link);
    const before = `{\n  // mine\n  "theme": "dark",\n  "mcpServers": {\n    "wrapped": { "command": "python3", "args": ["/opt/server.py"], "env": { "SECRET_KEY": "${secret}" } }\n  }\n}\n`;
    await writeFile(file, before, { mode: 0o644 });
    const settings = Object.entries(line.env).map(([name, value]) => `${name}=${value}`);
    const launcher = ["env", ...settings, process.execPath, main].join(" ");
    const { code, stderr, stdout } = await line.run([
      ...["mcp", "wrap", "wrapped", "--config", link, "--install-commands", install],
      ...["--internet", "off", "--launcher", launcher, "--yes"],
    ]);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringContaining('-   "command": "python3"'),
    });
    expect(stdout + stderr).not.toContain(secret);
    const backup = /as it was is (\S+)\./.exec(stdout)?.[1] ?? "";
    expect(await readFile(backup, "utf8")).toBe(before);
    expect([(await lstat(link)).isSymbolicLink(), (await stat(file)).mode & 0o777]).toEqual([true, 0o644]);
    const after = await readFile(file, "utf8");
    expect(after).toContain("// mine");
    expect(after).not.toContain(secret);
    const { command, args } = JSON.parse(after.replace("// mine", "")).mcpServers.wrapped;
    // A second time, the entry would be stored as a server that starts itself.
    const again = await line.run(["mcp", "wrap", "wrapped", "--config", link, "--replace", "--yes"]);
    expect(again).toMatchObject({ code: 125, stderr: expect.stringContaining("runs in a sandbox already") });
    expect(await readFile(file, "utf8")).toBe(after);

    const client = new Client({ name: "assistant", version: "1" });
    await client.connect(new StdioClientTransport({ command, args, env: { ...line.env }, stderr: "ignore" }));
    expect(await sandboxes()).toBe(1);
    const variable = await client.callTool({ name: "variable", arguments: { name: "SECRET_KEY" } });
    expect(variable.content).toEqual([{ type: "text", text: secret }]);
    const { content } = await client.callTool({ name: "images", arguments: { data: ["", "b29wcw=="] } });
    expect(content.map(({ type }) => type)).toEqual(["text", "text"]);
    await client.close();
    await expect.poll(sandboxes).toBe(0);

    // Start the wrapped server with another assistant, which must see no file of this machine either. Remove the
    // comment first, because the inspector does not accept comments in its configuration.
    await writeFile(file, after.replace("// mine", ""));
    const node = await otherNode("24.21.0");
    const inspector = await scratchProject("inspector", ["@modelcontextprotocol/inspector@2.12.0"]);
    const { stdout: inspected } = await promisify(execFile)(
      node,
      [
        join(inspector, "node_modules", ".bin", "mcp-inspector"),
        ...["--cli", "--config", file, "--server", "wrapped", "--method", "tools/call"],
        ...["--tool-name", "files", "--tool-args-json", JSON.stringify({ path: line.directory })],
      ],
      { env: { PATH: process.env.PATH, HOME: line.directory } },
    );
    expect(JSON.parse(inspected).content).toEqual([{ type: "text", text: '"no such directory"' }]);
    await expect.poll(sandboxes).toBe(0);
  });
});
