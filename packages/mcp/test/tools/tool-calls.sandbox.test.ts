import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hopx } from "../../src/profiles/hopx/profile.js";
import { selectTools } from "../../src/server/tool-selection.js";
import { connect, type McpConnection, textOf } from "../support/mcp-connection.js";

let mcp: McpConnection;
beforeAll(async () => {
  mcp = await connect({ CLOUD_SANDBOX_MCP_TOOLSETS: "default,compatibility" });
});
afterAll(() => mcp.client.close());

it("the profile's tools are listed in its order, every time", async () => {
  const names = selectTools(hopx, { toolsets: ["default", "compatibility"] }).map(({ name }) => name);
  for (let time = 0; time < 2; time += 1) {
    const { tools } = await mcp.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(names);
    expect(tools[0]?.inputSchema.properties).not.toHaveProperty("vm_url");
    expect(tools[1]?.inputSchema.properties).toHaveProperty("vm_url");
    for (const { inputSchema, outputSchema } of tools) {
      expect(inputSchema).not.toHaveProperty("$schema");
      expect(outputSchema).not.toHaveProperty("$schema");
    }
  }
});

it("stderr says which backend is used, how it isolates, and whether sandboxes reach the internet", async () => {
  await mcp.call("health");
  expect(mcp.stderr()).toMatch(
    /^cloud-sandbox-mcp: local backend \(\w+\); isolation: (namespace|container|gvisor|microvm); internet: on\n$/,
  );
});

describe("execute_code_isolated", () => {
  it.each([
    ["python", "print(6 * 7)"],
    ["javascript", "console.log(6 * 7)"],
    ["bash", "echo $((6 * 7))"],
  ])("runs %s", async (language, code) => {
    const run = await mcp.result("execute_code_isolated", { code, language });
    expect(run).toMatchObject({
      exit_code: 0,
      success: true,
      stdout: "42\n",
      stderr: "",
      termination_reason: "exit",
    });
    expect(run.execution_time).toBeGreaterThan(0);
    expect(run.isolation).toMatch(/^(namespace|container|gvisor|microvm)$/);
  });

  it("gives the same facts as text and as structure", async () => {
    const code = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)";
    const { content, structuredContent, isError } = await mcp.call("execute_code_isolated", { code });
    expect(isError ?? false).toBe(false);
    expect(structuredContent).toMatchObject({
      exit_code: 3,
      success: false,
      stdout: "out\n",
      stderr: "err\n",
    });
    const text = textOf(content);
    for (const fact of ["exit_code: 3", "success: false", "stdout:\nout", "stderr:\nerr"])
      expect(text).toContain(fact);
  });

  it("gives the program its environment", async () => {
    const run = await mcp.result("execute_code_isolated", {
      language: "bash",
      code: 'echo "$GREETING"',
      env: { GREETING: "hello" },
    });
    expect(run.stdout).toBe("hello\n");
  });

  it("leaves no sandbox behind", async () => {
    const { sandbox_id } = await mcp.result("execute_code_isolated", { code: "1" });
    const { data } = await mcp.result("list_sandboxes");
    expect(data).not.toContainEqual(expect.objectContaining({ id: sandbox_id }));
  });

  it.each([
    ["that fits into the call", 30, ["Running the code"]],
    ["that may outlast it", 60, ["Creating a sandbox", "Running the code", "Deleting the sandbox"]],
  ])("reports the steps of code %s to a caller that asks for progress", async (_, timeout, expected) => {
    const told: { progress: number; message?: string | undefined }[] = [];
    await mcp.result(
      "execute_code_isolated",
      { code: "1", timeout },
      { onprogress: (progress) => void told.push(progress) },
    );
    expect(told.map(({ progress }) => progress)).toEqual(told.map((_, index) => index + 1));
    // Leave out repetitions: a step that takes long is reported again, with the seconds since the call.
    const steps = told
      .map(({ message }) => message)
      .filter((step) => !/ s since the call\)$/.test(`${step}`));
    expect(steps).toEqual(expected);
  });

  it("reports a program over its time as a result", async () => {
    const run = await mcp.result("execute_code_isolated", {
      language: "bash",
      code: "echo started; sleep 60",
      timeout: 6,
    });
    expect(run).toMatchObject({ exit_code: 124, termination_reason: "timeout", stdout: "started\n" });
    expect(run.note).toContain("killed at its timeout");
  });

  it("cuts long output in the middle, says how much is missing and how to get it", async () => {
    const code = 'print("first"); print("x" * 3_000_000); print("last")';
    const { structuredContent, content } = await mcp.call("execute_code_isolated", { code });
    const run = structuredContent as { stdout: string; stdout_bytes: number; note: string };
    expect(run.stdout).toMatch(/^first\nx+\n\[… 29\d{5} of 3000012 bytes left out …\]\nx+\nlast\n$/);
    expect(run.stdout_bytes).toBe(3_000_012);
    expect(run.note).toContain("create_sandbox");
    for (const part of [JSON.stringify(structuredContent), textOf(content)])
      expect(part.length).toBeLessThan(32_000);
  });
});

describe("a sandbox for several steps", () => {
  let sandbox: Record<string, unknown>;
  let sandbox_id: string;

  beforeAll(async () => {
    sandbox = await mcp.result("create_sandbox", { env_vars: { PROJECT: "demo" } });
    sandbox_id = String(sandbox.id);
  });
  afterAll(() => mcp.result("delete_sandbox", { id: sandbox_id }));

  it("is described, with its deadline and without its token", () => {
    expect(sandbox).toMatchObject({
      status: "running",
      template_name: "code-interpreter",
      timeout_seconds: 600,
    });
    expect(Date.parse(String(sandbox.expires_at)) - Date.now()).toBeGreaterThan(500_000);
    expect(JSON.stringify(sandbox)).not.toMatch(/eyJ|token/);
  });

  it("keeps files from one call to the next", async () => {
    const path = "/workspace/data/täglich.txt";
    expect(await mcp.result("file_write", { sandbox_id, path, content: "größer\n" })).toMatchObject({
      path,
      size: 9,
    });
    expect(await mcp.result("file_read", { sandbox_id, path })).toEqual({
      path,
      content: "größer\n",
      size: 9,
      truncated: false,
    });
    const run = await mcp.result("execute_code", {
      sandbox_id,
      language: "bash",
      code: "cat täglich.txt",
      working_dir: "/workspace/data",
    });
    expect(run).toMatchObject({ stdout: "größer\n", exit_code: 0, sandbox_id });
    await mcp.result("execute_code", { sandbox_id, code: "x = 6" });
    expect(await mcp.result("execute_code", { sandbox_id, code: "x * 7" })).toMatchObject({ result: "42" });
    const listing = await mcp.result("file_list", { sandbox_id, path: "/workspace/data" });
    expect(listing).toMatchObject({
      files: [{ name: "täglich.txt", size: 9, is_directory: false }],
      count: 1,
      total_files: 1,
      truncated: false,
    });
    expect(await mcp.result("file_exists", { sandbox_id, path })).toEqual({ path, exists: true });
    expect(await mcp.result("file_remove", { sandbox_id, path })).toEqual({ path, status: "removed" });
    expect(await mcp.result("file_exists", { sandbox_id, path })).toEqual({ path, exists: false });
    expect(await mcp.result("file_mkdir", { sandbox_id, path: "/tmp/a/b" })).toEqual({
      path: "/tmp/a/b",
      status: "created",
    });
    expect(await mcp.result("file_exists", { sandbox_id, path: "/tmp/a" })).toMatchObject({ exists: true });
    expect(await mcp.result("file_mkdir", { sandbox_id, path: "/tmp/a" })).toEqual({
      path: "/tmp/a",
      status: "exists",
    });
  });

  it.each([
    ["bytes that are no UTF-8", "a\\xff\\xfeb", 4, true],
    ["NUL bytes", "a\\0b", 3, true],
    ["a replacement character of its own", "\\xef\\xbf\\xbd", 3, false],
  ])("says whether a file is text: %s", async (_, bytes, size, noted) => {
    const path = "/tmp/bytes";
    await mcp.result("run_command", { sandbox_id, command: `printf '${bytes}' > ${path}` });
    const read = await mcp.result("file_read", { sandbox_id, path });
    expect(read).toMatchObject({ size, truncated: false });
    expect(/not UTF-8 text.*file_download/.test(String(read.note))).toBe(noted);
  });

  it("runs shell commands", async () => {
    const run = await mcp.result("run_command", {
      sandbox_id,
      command: "pwd; echo $LEVEL | tr a-z A-Z; false",
      env: { LEVEL: "low" },
    });
    expect(run).toMatchObject({ stdout: "/workspace\nLOW\n", exit_code: 1, success: false });
    const late = await mcp.result("run_command", { sandbox_id, command: "sleep 60", timeout: 1 });
    expect(late.note).toMatch(/killed at its timeout.*run_command_background/);
  });

  it.each([
    ["bytes that are no text", "head -c 20000 /dev/zero | tr '\\0' '\\377'", 20_000, "30000 of 60000"],
    ["Latin-1", "yes \"$(printf 'caf\\351')\" | head -c 30000", 30_000, "15750 of 42000"],
  ])("says how much is left out of %s", async (_, command, bytes, leftOut) => {
    const run = await mcp.result("run_command", { sandbox_id, command });
    expect(run).toMatchObject({ stdout_bytes: bytes, note: expect.stringMatching(/^stdout was cut/) });
    expect(run.stdout).toContain(`[… ${leftOut} bytes left out …]`);
  });

  it("names the file with all of a very long output", async () => {
    const run = await mcp.result("execute_code", { sandbox_id, code: 'print("x" * 3_000_000)' });
    const file = /all of it is in (\S+):/.exec(String(run.note))?.[1];
    const size = await mcp.result("run_command", { sandbox_id, command: `wc -c < ${file}` });
    expect(size.stdout).toBe("3000001\n");
  });

  it("shows a long file in part, and a long directory too", async () => {
    await mcp.result("run_command", {
      sandbox_id,
      command: "mkdir many && cd many && seq 1 20000 > numbers && touch $(seq 1 500)",
    });
    const numbers = await mcp.result("file_read", { sandbox_id, path: "/workspace/many/numbers" });
    expect(numbers).toMatchObject({ size: 108_894, truncated: true });
    expect(numbers.content).toMatch(/^1\n2\n.*bytes left out.*\n20000\n$/s);
    const some = await mcp.result("file_list", { sandbox_id, path: "/workspace/many", max_results: 10 });
    expect(some).toMatchObject({ count: 10, total_files: 501, truncated: true });
    const fitting = await mcp.result("file_list", { sandbox_id, path: "/workspace/many" });
    expect(fitting).toMatchObject({ total_files: 501, truncated: true });
    expect(JSON.stringify(fitting).length).toBeLessThan(31_000);
  });

  it("keeps environment variables, and shows their values except secrets", async () => {
    const before = await mcp.result("env_get", { sandbox_id });
    expect(before.env_vars).toMatchObject({ PATH: expect.stringContaining("/usr/bin"), LANG: "C.UTF-8" });
    expect(before.env_vars).toMatchObject({ HOME: expect.stringMatching(/^\//), PROJECT: "demo" });
    const secrets = { PIN_TOKEN: "violet-8242", STORE: "postgres://app:violet-8243@db/app" };
    await mcp.result("env_set", { sandbox_id, env_vars: { COLOUR: "violet-8241", ...secrets } });
    const { content, structuredContent } = await mcp.call("env_get", { sandbox_id });
    const mask = "***MASKED***";
    expect(structuredContent).toMatchObject({
      env_vars: { COLOUR: "violet-8241", PROJECT: "demo", PIN_TOKEN: mask, STORE: mask },
      count: Number(before.count) + 3,
      truncated: false,
    });
    expect(textOf(content)).not.toMatch(/violet-824[23]/);
    const run = await mcp.result("execute_code", {
      sandbox_id,
      code: "import os; print(os.environ['COLOUR'])",
    });
    expect(run.stdout).toBe("violet-8241\n");
    expect(await mcp.result("env_set", { sandbox_id, env_vars: { ONLY: "1" }, merge: false })).toEqual({
      status: "success",
      variables_set: ["ONLY"],
      count: 1,
      merge: false,
    });
    const own = Number(before.count) - 1;
    const only = await mcp.result("env_get", { sandbox_id });
    expect(only).toMatchObject({ env_vars: { ONLY: "1" }, count: own + 1 });
    expect(await mcp.result("env_clear", { sandbox_id })).toEqual({
      status: "cleared",
      count: 0,
      env_vars: {},
    });
    const cleared = await mcp.result("env_get", { sandbox_id });
    expect(cleared).toMatchObject({ env_vars: { LANG: "C.UTF-8" }, count: own });
    expect(cleared.env_vars).not.toHaveProperty("ONLY");
  });

  it("has metrics and a description", async () => {
    const metrics = await mcp.result("get_system_metrics", { sandbox_id });
    expect(metrics).toMatchObject({
      cpu_percent: expect.any(Number),
      memory: { used_mb: expect.any(Number) },
      disk: { total_mb: expect.any(Number) },
    });
    expect(await mcp.result("get_vm_info", { sandbox_id })).toMatchObject({
      languages: expect.arrayContaining(["python", "bash"]),
    });
    expect(await mcp.result("ping_vm", { sandbox_id })).toMatchObject({ status: "ok", sandbox_id });
    const { processes, count, total_processes } = await mcp.result("list_processes", { sandbox_id });
    expect(processes).toContainEqual(expect.objectContaining({ pid: 1 }));
    expect(count).toBe(total_processes);
    expect(await mcp.result("list_processes", { sandbox_id, max_results: 1 })).toMatchObject({ count: 1 });
  });

  it("is found by the URL of its agent, and by no other URL", async () => {
    const { agent_url } = await mcp.result("get_agent_url", { sandbox_id });
    expect(agent_url).toBe(sandbox.direct_url);
    expect(await mcp.result("ping_vm", { vm_url: `${agent_url}/`, auth_token: "not needed" })).toMatchObject({
      sandbox_id,
    });
    for (const vm_url of ["http://127.0.0.1:9", `https://example.com/agent/${sandbox_id}`, "not a url"]) {
      expect(await mcp.failure("ping_vm", { vm_url })).toContain("nothing was sent to it");
    }
  });

  it("can be listed, paused, resumed and given more time", async () => {
    const { data } = await mcp.result("list_sandboxes", { status: "running" });
    expect(data).toContainEqual(expect.objectContaining({ id: sandbox_id, direct_url: sandbox.direct_url }));
    expect(await mcp.result("pause_sandbox", { id: sandbox_id })).toEqual({
      id: sandbox_id,
      status: "paused",
    });
    expect(await mcp.failure("execute_code", { sandbox_id, code: "1" })).toContain("resume_sandbox");
    expect(await mcp.result("resume_sandbox", { id: sandbox_id })).toMatchObject({
      id: sandbox_id,
      template_name: "code-interpreter",
      status: "running",
    });
    const { expires_at } = await mcp.result("update_sandbox_timeout", {
      id: sandbox_id,
      timeout_seconds: 3600,
    });
    expect(Date.parse(String(expires_at)) - Date.now()).toBeGreaterThan(3_500_000);
    expect(await mcp.result("get_sandbox", { id: sandbox_id })).toMatchObject({
      id: sandbox_id,
      status: "running",
      timeout_seconds: 3600,
    });
  });
});

it("delete_sandbox says whether the sandbox existed", async () => {
  const { id } = await mcp.result("create_sandbox");
  for (const status of ["deleted", "not_found"])
    expect(await mcp.result("delete_sandbox", { id })).toEqual({ id, status });
  expect(await mcp.result("delete_sandbox", { id: "totally-wrong" })).toMatchObject({ status: "not_found" });
});

it("the token of a sandbox is given only if it is asked for", async () => {
  const sandbox = await mcp.result("create_sandbox", { template_id: "1", include_auth_token: true });
  expect(sandbox).toMatchObject({ template_name: "base", auth_token: expect.stringMatching(/^eyJ/) });
  await mcp.result("delete_sandbox", { id: sandbox.id });
});

it("templates are described", async () => {
  const { data, count, has_more } = await mcp.result("list_templates");
  // Where this machine has the programs of a desktop, there is a third.
  expect([2, 3]).toContain(count);
  expect(data).toHaveLength(Number(count));
  expect(has_more).toBe(false);
  expect(data).toContainEqual({
    id: expect.any(String),
    name: "code-interpreter",
    description: expect.any(String),
    category: expect.any(String),
    language: expect.any(String),
    status: "active",
  });
  expect(await mcp.result("list_templates", { limit: 1, fields: "name" })).toEqual({
    data: [{ name: expect.any(String) }],
    count: 1,
    has_more: true,
  });
  expect(await mcp.result("list_templates", { language: "bash" })).toMatchObject({ count });
  expect(await mcp.result("list_templates", { language: "cobol" })).toMatchObject({ count: 0 });
  const unknown = await mcp.failure("list_templates", { fields: "name,nonsense" });
  expect(unknown).toMatch(/"nonsense".*name, .*status.*all/);
  expect(await mcp.result("get_template", { name: "base" })).toMatchObject({
    name: "base",
    features: expect.any(Array),
  });
});

it("the health of the service is checked", async () => {
  expect(await mcp.result("health")).toMatchObject({ status: "healthy", isolation: expect.any(String) });
});
