import { type Sandbox, SandboxClient } from "cloud-sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type LocalServer, startLocalServer } from "../support/local-server.js";

let server: LocalServer;
let client: SandboxClient;
let sandbox: Sandbox;
beforeAll(async () => {
  server = await startLocalServer({ args: ["--pool", "0"] });
  client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
  sandbox = await client.sandboxes.create();
});
afterAll(async () => {
  await client.close();
  await server.stop();
});

const twoPages = "for n in 1, 2: display({'text/html': f'<b>{n}</b>'}, raw=True)";
const pages = [
  { type: "text/html", data: "<b>1</b>" },
  { type: "text/html", data: "<b>2</b>" },
];

/** Ways in which the same code is run: in one request, with callbacks, in the background. */
const ways: [way: string, options: object][] = [
  ["in one request", {}],
  ["with callbacks", { onStdout: () => undefined }],
  ["with patience", { timeoutSeconds: 60, detachAfterSeconds: 40 }],
];

describe.each(ways)("code that is run %s", (_, options) => {
  const run = (code: string, more: object = {}) => sandbox.execute(code, { ...options, ...more });
  const runAlone = (code: string, more: object = {}) => client.executeIsolated(code, { ...options, ...more });

  test("gives everything that it displayed, in order", async () => {
    expect(await run(twoPages)).toMatchObject({
      richOutputs: pages,
      richOutputsDropped: 0,
      error: undefined,
    });
    expect(await runAlone(twoPages)).toMatchObject({ richOutputs: pages, error: undefined });
  });

  test.each([
    ["python", "def f():\n  raise ValueError('no ☃')\nf()", "ValueError", "no ☃", /line 2, in f\n.*no ☃\n$/s],
    ["python", "1 +", "SyntaxError", "invalid syntax", /1 \+\n/],
    [
      "javascript",
      "function f() { throw new TypeError('no') }\nf()",
      "TypeError",
      "no",
      /^TypeError: no\n.* f /,
    ],
    ["javascript", "throw 'text'", "string", "'text'", /^Uncaught 'text'/],
    ["javascript", "setTimeout(() => { throw new RangeError('late') })", "RangeError", "late", /late/],
  ])("gives the exception that ended %s code: %s", async (language, code, name, value, traceback) => {
    const error = {
      name,
      value: expect.stringContaining(value),
      traceback: expect.stringMatching(traceback),
    };
    expect(await run(code, { language })).toMatchObject({ error, exitCode: 1 });
    expect(await runAlone(code, { language })).toMatchObject({ error, exitCode: 1 });
  });

  test.each([
    ["python", "import sys; sys.exit(3)"],
    ["javascript", "process.exit(3)"],
    ["bash", "exit 3"],
  ])("gives no exception where %s code only exits", async (language, code) => {
    expect(await run(code, { language })).toMatchObject({ error: undefined, exitCode: 3 });
    expect(await runAlone(code, { language })).toMatchObject({ error: undefined, exitCode: 3 });
  });

  test.each([
    ["python", "import sys; print(input(), sys.stdin.read())"],
    ["javascript", "console.log(require('fs').readFileSync(0, 'utf8').replace('\\n', ' '))"],
    ["bash", "read first; echo $first $(cat)"],
  ])("reads its input in %s", async (language, code) => {
    expect(await run(code, { language, stdin: "a\nb" })).toMatchObject({ stdout: "a b\n", stderr: "" });
    expect(await runAlone(code, { language, stdin: "a\nb" })).toMatchObject({ stdout: "a b\n" });
  });
});

describe("callbacks", () => {
  test("are given output and displayed values in order, and their promises are awaited", async () => {
    const told: unknown[] = [];
    const later = async (value: unknown) => {
      await Promise.resolve();
      told.push(value);
    };
    const code = `print("out", flush=True)\n${twoPages}`;
    const options = { onStdout: later, onDisplay: later };
    const run = await sandbox.execute(code, options);
    const alone = await client.executeIsolated(code, options);
    expect(told).toEqual([...["out\n", ...run.richOutputs], ...["out\n", ...alone.richOutputs]]);
    expect(run).toMatchObject({ stdout: "out\n", richOutputs: pages, language: "python", cached: false });
    expect(alone).toMatchObject({ stdout: "out\n", richOutputs: pages, cleanupError: undefined });
  });

  test("end the program by what they throw", async () => {
    const failure = new Error("enough");
    const onStdout = () => {
      throw failure;
    };
    const endless = "import time\nprint('begun', flush=True)\nwhile True: time.sleep(0.05)";
    await expect(sandbox.execute(endless, { onStdout })).rejects.toBe(failure);
    await expect(client.executeIsolated(endless, { onStdout })).rejects.toBe(failure);
  });

  test("are taken of each program of many", async () => {
    const told: string[] = [];
    const onStdout = (text: string) => told.push(text);
    const programs = ["a", "b"].map((name) => ({ code: `print("${name}")`, onStdout }));
    for await (const { error } of client.executeIsolatedMany(programs)) expect(error).toBeUndefined();
    expect(told.sort()).toEqual(["a\n", "b\n"]);
  });
});

test("code with an input leaves the variables of the context alone", async () => {
  await sandbox.execute("kept = 7");
  const run = await sandbox.execute("print(input(), 'kept' in globals())", { stdin: "a" });
  expect(run.stdout).toBe("a False\n");
  expect((await sandbox.execute("kept")).value).toBe("7");
});
