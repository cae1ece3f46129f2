import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runBuilt } from "../support/built-program.js";
import { type CommandLine, startCommandLine } from "../support/command-line.js";
import { root } from "../support/documents/code-blocks.js";
import { needs } from "../support/needs.js";

let line: CommandLine;
let install: string;

beforeAll(async () => {
  line = await startCommandLine();
  const program = await readFile(join(root, "test/mcp-runner/server.py"), "utf8");
  install = `cat > /opt/server.py <<'END'\n${program}\nEND`;
});
afterAll(() => line?.stop());

/** Runs a command with its standard streams redirected as a shell does it. */
const redirected = (redirection: string, ...words: string[]) =>
  runBuilt("cli", words, { env: line.env, through: ["sh", "-c", `"$@" ${redirection}`, "sh"] });
const sandboxes = async (): Promise<unknown[]> => {
  const { data } = await line.client.controlPlane.GET("/v1/sandboxes");
  return data?.data ?? expect.fail("the sandboxes cannot be listed");
};

describe("closed and full streams", () => {
  test.each(["--help", "mcp --help", "run --code print(1)", "template list"])(
    "%s: output that could not be written is told in one line",
    async (words) => {
      const { code, stderr } = await redirected(">/dev/full", ...words.split(" "));
      expect({ code, lines: stderr.trim().split("\n").length }).toEqual({ code: 125, lines: 1 });
      expect(stderr).toContain("The output could not be written: ENOSPC");
    },
  );

  test("with --json too, as JSON", async () => {
    const { code, stderr } = await redirected(">/dev/full", "template", "list", "--json");
    expect({ code, ...JSON.parse(stderr) }).toMatchObject({ code: 125, error: { code: "OUTPUT_LOST" } });
  });

  test("no standard input, output or standard error is no reason to fail", async () => {
    for (const redirection of ["<&-", ">&-", "2>&-"])
      expect((await redirected(redirection, "run", "-c", "print(1)")).code).toBe(0);
  });

  test("a reader that went away ends the command quietly", async () => {
    const script = `{ "$@"; echo $? >&2; } | true`;
    const through = ["bash", "-c", script, "bash"];
    const { stderr } = await runBuilt("cli", ["template", "list"], { env: line.env, through });
    expect(stderr).toBe("141\n");
  });
});

test("a command without the backend that is installed with it says what to do, in one line", async () => {
  const copy = join(line.directory, "copy");
  await cp(join(root, "packages/cli/dist"), copy, { recursive: true });
  const through = ["sh", "-c", `exec "$1" ${copy}/main.js run --code 1`, "sh"];
  expect(await runBuilt("cli", [], { env: {}, through })).toEqual({
    code: 125,
    stdout: "",
    stderr: expect.stringMatching(/^.*cloud-sandbox-local is not installed\. .*cloud-sandbox login.*\n$/),
  });
});

describe("with --json, one line of JSON says what is wrong:", () => {
  test.each<[string, string[], string]>([
    ["an unknown command", ["nope"], "UNKNOWN_COMMAND"],
    ["an unknown command below", ["sandbox", "nope"], "UNKNOWN_COMMAND"],
    ["an unknown option", ["run", "--nope"], "USAGE"],
    ["an unknown sandbox", ["sandbox", "get", "nope"], "SANDBOX_NOT_FOUND"],
    ["an unknown template", ["sandbox", "create", "--template", "nope"], "TEMPLATE_NOT_FOUND"],
    ["an unknown image", ["sandbox", "create", "--image", "nope:9"], "IMAGE_UNAVAILABLE"],
    ["an unknown language", ["run", "-l", "cobol", "-c", "1"], "USAGE"],
    ["an unknown server of MCP", ["mcp", "tools", "list", "nope"], "SERVER_UNKNOWN"],
    ["arguments that are no JSON", ["mcp", "tools", "execute", "a", "b", "--params", "{"], "PARAMS_INVALID"],
    ["a pair without a value", ["run", "-c", "1", "--env", "K"], "USAGE"],
    ["a pair without a name", ["mcp", "quick", "a", "b", "--param", "=v"], "USAGE"],
    ["a server where nothing listens", ["sandbox", "list", "--url", "http://127.0.0.1:1"], "ECONNREFUSED"],
    ["a server that is no address", ["sandbox", "list", "--url", "nope"], "BASE_URL_INVALID"],
  ])("%s", async (_, words, expected) => {
    const { code, stderr, stdout } = await line.run([...words, "--json"]);
    expect({ code, stdout }).toEqual({ code: 125, stdout: "" });
    expect(JSON.parse(stderr).error.code).toBe(expected);
  });

  test("a login that is no file, or that is broken", async () => {
    const login = join(line.directory, "settings", "cloud-sandbox", "login.json");
    const env = { XDG_CONFIG_HOME: join(line.directory, "settings") };
    const refused = async () => {
      const { code, stderr } = await runBuilt("cli", ["sandbox", "list", "--json"], { env });
      return { exit: code, code: JSON.parse(stderr).error.code };
    };
    await mkdir(join(line.directory, "settings", "cloud-sandbox"), { recursive: true });
    await writeFile(login, "{broken", { mode: 0o600 });
    expect(await refused()).toEqual({ exit: 125, code: "CONFIG_INVALID" });
    await chmod(login, 0o644);
    expect(await refused()).toEqual({ exit: 125, code: "CONFIG_NOT_PRIVATE" });
    await mkdir(join(line.directory, "elsewhere", "cloud-sandbox", "login.json"), { recursive: true });
    env.XDG_CONFIG_HOME = join(line.directory, "elsewhere");
    expect(await refused()).toEqual({ exit: 125, code: "CONFIG_UNREADABLE" });
  });
});

describe("a server of MCP that", () => {
  const call = async (tool: string, ...more: string[]) => {
    const words = ["mcp", "quick", "python3 /opt/server.py", tool, "--install-commands", install, ...more];
    return line.run([...words, "--json"]);
  };

  test.each<[string, string, string, RegExp]>([
    ["crashes", "exit", "SERVER_ENDED", /exit code 3.*giving up/],
    ["never answers", "hang", "CALL_TIMEOUT", /--call-timeout/],
    ["answers another request", "other-id", "UNKNOWN_REQUEST_ID", /never sent, 4711/],
    ["floods", "flood", "NOT_A_MESSAGE", /is not an MCP message/],
    ["asks for sampling", "sampling", "TOOL_FAILED", /asked for sampling\/createMessage, which was refused/],
    ["answers in another form", "wrong", "INVALID_RESULT", /Invalid result/],
    ["has no such tool", "nope", "TOOL_NOT_FOUND", /The server's tools are: echo/],
  ])("%s is told as JSON, and leaves no sandbox", async (_, tool, code, message) => {
    const ended = await call(tool, "--call-timeout", "3");
    expect({ code: ended.code, stdout: ended.stdout }).toEqual({ code: 125, stdout: "" });
    const { error } = JSON.parse(ended.stderr);
    expect(error.code).toBe(code);
    expect(`${error.message} ${error.hint}`).toMatch(message);
    expect(error.message).not.toContain("\n");
    expect(await sandboxes()).toEqual([]);
  });

  test.each([
    ["sends back what it gets", "cat", "SERVER_NOT_STARTED", /sends back what it is sent.*command of an MCP/],
    ["prints other lines", "yes", "NOT_A_MESSAGE", /MCP message: y\..*command starts an MCP server/],
  ])("is a program that only %s is told so", async (_, program, code, message) => {
    const { stderr } = await line.run(["mcp", "quick", program, "echo", "--json"]);
    const { error } = JSON.parse(stderr);
    expect(error.code).toBe(code);
    expect(`${error.message} ${error.hint}`).toMatch(message);
  });

  test("says that its tool failed is told with the tool's result", async () => {
    const { code, stderr } = await call("fail");
    expect(code).toBe(125);
    expect(JSON.parse(stderr).error).toMatchObject({
      code: "TOOL_FAILED",
      result: { isError: true, content: [{ type: "text", text: "failed with " }] },
    });
  });

  test("is not installed is told with the option that installs it", async () => {
    const { code, stderr } = await line.run(["mcp", "quick", "no-such-server", "t"]);
    expect({ code, lines: stderr.trim().split("\n").length }).toEqual({ code: 125, lines: 1 });
    expect(stderr).toMatch(
      /no-such-server: command not found.*install its program with --install-commands\.$/m,
    );
  });

  test("prints garbage between its messages is used all the same", async () => {
    expect(await call("garbage")).toMatchObject({ code: 0, stderr: "" });
  });

  test("is never installed to the end can be interrupted, and leaves no sandbox", async () => {
    const main = join(root, "packages/cli/dist/main.js");
    // Progress, which says when the installation has begun, is shown on terminals only.
    const words = `mcp quick x t --install-commands 'echo installing; sleep 91357'`;
    const child = spawn("script", ["-qec", `${process.execPath} ${main} ${words}`, "/dev/null"], {
      env: { PATH: process.env.PATH, ...line.env },
      stdio: ["pipe", "pipe", "inherit"],
    });
    let shown = "";
    child.stdout.setEncoding("utf8").on("data", (piece: string) => {
      shown += piece;
    });
    await expect.poll(() => shown).toContain("installing");
    child.stdin.write("\u0003");
    expect(await once(child, "exit")).toEqual([130, null]);
    expect(shown).toContain("cloud-sandbox: interrupted.");
    const isBuilding = async (): Promise<boolean> => {
      const { data } = await line.client.controlPlane.GET("/v1/templates");
      return JSON.stringify(data).includes('"status":"building"');
    };
    expect(await isBuilding()).toBe(false);
    expect(await sandboxes()).toEqual([]);
  });
});

describe("a program that needs the internet and has none", () => {
  const asks = "import urllib.request as u; u.urlopen('http://example.com')";

  test("is told which option gives it", async () => {
    const { code, stderr } = await line.run(["run", "--internet", "off", "-c", asks]);
    expect({ code, last: stderr.trim().split("\n").at(-1) }).toEqual({
      code: 1,
      last: "cloud-sandbox: the sandbox has no internet access; --internet on gives it.",
    });
  });

  test("is told so as a server of MCP, too", async () => {
    const words = ["mcp", "quick", `python3 -c "${asks}"`, "t", "--internet", "off", "--json"];
    const { code, stderr } = await line.run(words);
    expect({ code, hint: JSON.parse(stderr).error.hint }).toEqual({
      code: 125,
      hint: "Give it internet access with --internet on.",
    });
  });

  test.for([
    ["curl", "curl -sS https://nothing.invalid"],
    ["npm", "npm install --registry https://10.255.255.1 --fetch-retries 0 x"],
  ] as const)(
    "is told so as an install command with %s, with the options of the server",
    async ([program, command], { skip }) => {
      skip(...needs("curl", program === "curl"));
      const { stderr } = await line.run(["mcp", "quick", "x", "t", "--install-commands", command, "--json"]);
      const { code, hint } = JSON.parse(stderr).error;
      expect({ code, hint }).toEqual({
        code: "INSTALL_FAILED",
        hint: expect.stringMatching(/^The network failed\..*--egress-upstream-proxy.*--egress-allow-private/),
      });
    },
  );

  test("is not supposed where install commands failed by themselves", async () => {
    const { stderr } = await line.run(["mcp", "quick", "x", "t", "--install-commands", "exit 3", "--json"]);
    expect(JSON.parse(stderr).error.hint).toBe("Correct its install commands.");
  });
});
