import { once } from "node:events";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startHttpServer } from "../support/http-server.js";
import { connect, type McpConnection, plainText, textOf } from "../support/mcp-connection.js";

let mcp: McpConnection;
beforeAll(async () => {
  mcp = await connect({ CLOUD_SANDBOX_MCP_PROFILE: "microsandbox" });
});
afterAll(() => mcp?.client.close());

const python = { sandbox: "my-python-env", namespace: "default" };
const analysis = { sandbox: "data-analysis", namespace: "research" };
const node = { sandbox: "node-env", namespace: "development" };

const text = (name: string, given: Record<string, unknown>): Promise<string> => plainText(mcp, name, given);

it("the profile microsandbox has the tools and parameters of the original", async () => {
  const { tools } = await mcp.client.listTools();
  const listed = tools.map(({ name, inputSchema: { properties, required = [] } }) => [
    name,
    Object.keys(properties ?? {}),
    required,
  ]);
  expect(new Map(listed.map(([name, ...rest]) => [name, rest]))).toEqual(
    new Map([
      [
        "sandbox_start",
        [
          ["sandbox", "namespace", "config"],
          ["sandbox", "namespace"],
        ],
      ],
      [
        "sandbox_stop",
        [
          ["sandbox", "namespace"],
          ["sandbox", "namespace"],
        ],
      ],
      [
        "sandbox_run_code",
        [
          ["sandbox", "namespace", "code", "language"],
          ["sandbox", "namespace", "code", "language"],
        ],
      ],
      [
        "sandbox_run_command",
        [
          ["sandbox", "namespace", "command", "args"],
          ["sandbox", "namespace", "command"],
        ],
      ],
      ["sandbox_get_metrics", [["namespace", "sandbox"], ["namespace"]]],
    ]),
  );
});

describe("the documented examples of microsandbox", () => {
  it.each([
    ["a basic Python sandbox", python, "Sandbox my-python-env started."],
    [
      "a configuration of its own",
      {
        ...analysis,
        config: { image: "microsandbox/python", memory: 512, cpus: 1, envs: ["PYTHONPATH=/workspace"] },
      },
      "Sandbox data-analysis started.",
    ],
    [
      "a Node.js environment",
      { ...node, config: { image: "microsandbox/node", memory: 512 } },
      "Sandbox node-env started.",
    ],
    ["one that runs already", python, "Sandbox my-python-env runs already."],
  ])("start %s", async (_, given, said) => {
    expect(await text("sandbox_start", given)).toBe(said);
  });

  it("run Python", async () => {
    const code = "import math\nresult = math.sqrt(16)\nprint(f'Square root: {result}')";
    const { content, structuredContent } = await mcp.call("sandbox_run_code", {
      ...python,
      code,
      language: "python",
    });
    const expected = {
      status: "success",
      language: "python",
      output: [{ stream: "stdout", text: "Square root: 4.0" }],
    };
    expect(structuredContent).toEqual(expected);
    expect(JSON.parse(textOf(content))).toEqual(expected);
  });

  it("run JavaScript", async () => {
    const code =
      "const fs = require('fs');\nconst data = { message: 'Hello from Node.js!' };\nconsole.log(JSON.stringify(data, null, 2));";
    expect(await mcp.result("sandbox_run_code", { ...node, code, language: "nodejs" })).toEqual({
      status: "success",
      language: "nodejs",
      output: ["{", '  "message": "Hello from Node.js!"', "}"].map((line) => ({
        stream: "stdout",
        text: line,
      })),
    });
  });

  it("run a command, with and without arguments", async () => {
    await mcp.result("sandbox_run_command", { ...python, command: "touch", args: ["/workspace/a b"] });
    expect(await mcp.result("sandbox_run_command", { ...python, command: "ls" })).toEqual({
      command: "ls",
      args: [],
      exit_code: 0,
      success: true,
      output: [{ stream: "stdout", text: "a b" }],
    });
    const long = await mcp.result("sandbox_run_command", {
      ...python,
      command: "ls",
      args: ["-la", "/workspace"],
    });
    expect(long.output).toContainEqual({ stream: "stdout", text: expect.stringMatching(/ a b$/) });
  });

  it("give the metrics of one, of a namespace and of all", async () => {
    const measured = {
      running: true,
      cpu_usage: expect.any(Number),
      memory_usage: expect.any(Number),
      disk_usage: expect.any(Number),
    };
    expect(await mcp.result("sandbox_get_metrics", python)).toEqual({
      sandboxes: [{ name: "my-python-env", namespace: "default", ...measured }],
    });
    expect(await mcp.result("sandbox_get_metrics", { namespace: "development" })).toEqual({
      sandboxes: [{ name: "node-env", namespace: "development", ...measured }],
    });
    const { sandboxes } = await mcp.result("sandbox_get_metrics", { namespace: "*" });
    expect(sandboxes).toHaveLength(3);
  });

  it("stop one, whose metrics say so then", async () => {
    expect(await text("sandbox_stop", node)).toBe("Sandbox node-env stopped.");
    expect(await text("sandbox_stop", node)).toBe("Sandbox node-env was not running.");
    expect(await mcp.result("sandbox_get_metrics", node)).toEqual({
      sandboxes: [{ name: "node-env", namespace: "development", running: false }],
    });
  });
});

describe("a sandbox of the profile microsandbox", () => {
  it("keeps variables, and shows values and errors as an interpreter does", async () => {
    const run = (code: string): Promise<Record<string, unknown>> =>
      mcp.result("sandbox_run_code", { ...python, code, language: "python" });
    await run("x = 20");
    expect(await run("print('a', end=''); x + 1")).toMatchObject({
      status: "success",
      output: [
        { stream: "stdout", text: "a" },
        { stream: "stdout", text: "21" },
      ],
    });
    const failed = await run("1 / 0");
    expect(failed.status).toBe("error");
    expect(failed.output).toContainEqual({ stream: "stderr", text: "ZeroDivisionError: division by zero" });
  });

  it("has the memory and the variables of its configuration", async () => {
    const code = "import os; print(os.environ['PYTHONPATH']); data = b'x' * (800 * 1024 * 1024)";
    const run = await mcp.result("sandbox_run_code", { ...analysis, code, language: "python" });
    expect(run.status).toBe("error");
    const environment = await mcp.result("sandbox_run_command", {
      ...analysis,
      command: "printenv",
      args: ["PYTHONPATH"],
    });
    expect(environment.output).toEqual([{ stream: "stdout", text: "/workspace" }]);
  });

  it("keeps a long output valid, and within bounds", async () => {
    const code = "for i in range(100000): print(i)";
    const run = await mcp.result("sandbox_run_code", { ...python, code, language: "python" });
    expect(JSON.stringify(run).length).toBeLessThan(40_000);
    expect(run.output).toEqual([
      { stream: "stdout", text: expect.stringMatching(/^0\n1\n[\s\S]*bytes left out[\s\S]*\n99999\n$/) },
    ]);
  });

  it.each([
    ["'x' * 100_000", 100_003],
    ["print('y' * 20_000)\n'x' * 100_000", 120_004],
    ["print('y' * 5_000_000)\n'x' * 100_000", 5_100_004],
  ])("counts all bytes of a long output and value: %s", async (code, bytes) => {
    const run = await mcp.result("sandbox_run_code", { ...python, code, language: "python" });
    const [{ text: shown }] = run.output as [{ text: string }];
    const mark = /\n\[… (\d+) of (\d+) bytes left out …\]\n/;
    const kept = shown.replace(mark, "").length;
    expect(mark.exec(shown)?.slice(1).map(Number)).toEqual([bytes - kept, bytes]);
  });

  it.each([
    ["more memory than any has", { memory: 10_000_000 }, /config\.memory must be at most/],
    ["more CPUs than there are", { cpus: 1000 }, /fewer cpus/],
  ])("stays unchanged if a new one is refused for %s", async (_, config, step) => {
    expect(await mcp.failure("sandbox_start", { ...python, config })).toMatch(step);
    expect((await mcp.result("sandbox_run_command", { ...python, command: "ls" })).output).toEqual([
      { stream: "stdout", text: "a b" },
    ]);
  });

  it("is replaced by a new one if a configuration is given, and says so", async () => {
    const config = { image: "python:3.0-slim" };
    expect(await text("sandbox_start", { ...python, config })).toMatch(
      /^Sandbox my-python-env started\. The earlier sandbox .* deleted, with its files\. python:3\.0-slim asks for Python 3\.0; the server has Python 3\./,
    );
    expect((await mcp.result("sandbox_run_command", { ...python, command: "ls" })).output).toEqual([]);
  });
});

it.each([
  [
    "code where nothing runs",
    "sandbox_run_code",
    { ...node, code: "1", language: "python" },
    /not running.*sandbox_start/,
  ],
  [
    "a command where nothing runs",
    "sandbox_run_command",
    { ...node, command: "ls" },
    /not running.*sandbox_start/,
  ],
  [
    "metrics of what never was",
    "sandbox_get_metrics",
    { namespace: "no", sandbox: "no" },
    /no sandbox no .*sandbox_start/,
  ],
  [
    "a language nobody has",
    "sandbox_run_code",
    { ...python, code: "1", language: "ruby" },
    /one of python, nodejs/,
  ],
  [
    "volumes",
    "sandbox_start",
    { ...node, config: { volumes: ["/etc:/data:ro"] } },
    /does not let sandboxes mount \/etc.*CLOUD_SANDBOX_ALLOW_MOUNT/,
  ],
  [
    "a volume without a path",
    "sandbox_start",
    { ...node, config: { volumes: ["data"] } },
    /config\.volumes\.0 must be HOST:PATH/,
  ],
  [
    "a port that there is not",
    "sandbox_start",
    { ...node, config: { ports: ["8080:70000"] } },
    /config\.ports\.0 must be HOST:PORT/,
  ],
  [
    "a setting nobody knows",
    "sandbox_start",
    { ...node, config: { workdir: "/" } },
    /config must be an object of image, memory/,
  ],
  [
    "a variable without a name",
    "sandbox_start",
    { ...node, config: { envs: ["=secret-value"] } },
    /config\.envs\.0 must be NAME=value/,
  ],
  [
    "an image of another major version",
    "sandbox_start",
    { ...node, config: { image: "python:2.7" } },
    /"python:2\.7".*Use python:3/,
  ],
  [
    "an image of another language",
    "sandbox_start",
    { ...node, config: { image: "rust:1.80" } },
    /"rust:1\.80".*Use python:3/,
  ],
  [
    "more CPUs than there are",
    "sandbox_start",
    { ...node, config: { cpus: 1000 } },
    /processors.*fewer cpus/,
  ],
  [
    "too little memory",
    "sandbox_start",
    { ...node, config: { memory: 1 } },
    /config\.memory must be whole MiB, 128 or more/,
  ],
  [
    "a namespace of all",
    "sandbox_start",
    { sandbox: "a", namespace: "*" },
    /namespace must be 1 to 100 letters/,
  ],
  [
    "a name with a slash",
    "sandbox_start",
    { sandbox: "a/b", namespace: "c" },
    /sandbox must be 1 to 100 letters/,
  ],
])("the profile microsandbox refuses %s, with what to do", async (_, name, given, step) => {
  const sentence = await mcp.failure(name, given);
  expect(sentence).toMatch(step);
  expect(sentence).not.toContain("secret-value");
});

it("the profile microsandbox mounts the directories that the user allows", async () => {
  const directory = await mkdtemp(join(tmpdir(), "microsandbox-"));
  await chmod(directory, 0o755);
  await writeFile(join(directory, "file"), "of the host");
  const own = await connect({
    CLOUD_SANDBOX_MCP_PROFILE: "microsandbox",
    CLOUD_SANDBOX_ALLOW_MOUNT: `/usr/share:${directory}`,
  });
  try {
    await own.result("sandbox_start", { ...python, config: { volumes: [`${directory}:/data:ro`] } });
    const command = "cat /data/file && grep -o ' /data ro' /proc/self/mountinfo";
    const said = await own.result("sandbox_run_command", { ...python, command: "sh", args: ["-c", command] });
    expect(said).toMatchObject({
      exit_code: 0,
      output: [{ text: expect.stringMatching(/^of the host.*\/data ro/s) }],
    });
  } finally {
    await own.client.close();
    await rm(directory, { recursive: true });
  }
});

it("the profile microsandbox forwards ports, until the sandbox is stopped", async () => {
  const blocker = createServer().listen(0, "127.0.0.1");
  await once(blocker, "listening");
  const { port } = blocker.address() as AddressInfo;
  const served = { sandbox: "served", namespace: "ports" };
  const start = { ...served, config: { ports: [`${port}:8000`] } };
  const inside = (command: string) =>
    mcp.result("sandbox_run_command", { ...served, command: "sh", args: ["-c", command] });
  const page = () => fetch(`http://127.0.0.1:${port}/page`).then((answer) => answer.text());
  expect(await mcp.failure("sandbox_start", start)).toMatch(/another program uses it.*another HOST/);
  expect(await mcp.failure("sandbox_run_command", { ...served, command: "ls" })).toMatch(/not running/);
  blocker.close();
  await once(blocker, "close");
  // The second sandbox replaces the first, and has its port.
  for (const text of ["one", "two"]) {
    await mcp.result("sandbox_start", start);
    await inside(`echo ${text} >page; python3 -m http.server 8000 >/dev/null 2>&1 &`);
    await expect.poll(() => page().catch(() => "")).toBe(`${text}\n`);
  }
  await mcp.result("sandbox_stop", served);
  await expect(page()).rejects.toMatchObject({ cause: { code: "ECONNREFUSED" } });
});

it("the profile microsandbox keeps the names of its clients apart, over HTTP", async () => {
  const server = await startHttpServer([], { CLOUD_SANDBOX_MCP_PROFILE: "microsandbox" });
  try {
    const [one, other] = await Promise.all([server.connect(), server.connect()]);
    await one.result("sandbox_start", python);
    expect(await other.failure("sandbox_run_command", { ...python, command: "ls" })).toMatch(/not running/);
    expect(await other.result("sandbox_get_metrics", { namespace: "*" })).toEqual({ sandboxes: [] });
    await Promise.all([one.client.close(), other.client.close()]);
  } finally {
    await server.stop();
  }
});
