import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startCommand } from "../support/background.js";
import { eventually } from "../support/eventually.js";
import { RunningAgent, sandboxId } from "../support/running-agent.js";

let agent: RunningAgent;
beforeAll(async () => {
  agent = await RunningAgent.start({
    limits: { memoryMb: 100_000, diskMb: 10, maxProcesses: 5 },
    template: "base",
    desktop: false,
  });
});
afterAll(() => agent[Symbol.asyncDispose]());

const get = async <Body = Record<string, unknown>>(path: string) =>
  (await agent.call<Body>("GET", path)).body;

test("the index page and /ping answer", async () => {
  expect(await get("/")).toMatchObject({ agent: "cloud-sandbox-agent", status: "running", vm_id: sandboxId });
  expect(await get("/ping")).toMatchObject({ status: "ok", message: "pong" });
});

test("/health lists the features that this agent has, and no others", async () => {
  const health = await get<{ uptime: string; features: Record<string, unknown> }>("/health");
  expect(health).toMatchObject({ status: "healthy", vm_id: sandboxId, active_executions: 0 });
  expect(health.uptime).toMatch(/^(\d+h)?(\d+m)?\d+s$/);
  expect(health.features).toMatchObject({
    code_execution: true,
    file_operations: true,
    system_metrics: true,
    desktop: false,
  });
  expect(health.features.languages).toEqual(expect.arrayContaining(["python", "javascript", "bash"]));
  const served = (await get<{ endpoints: Record<string, string> }>("/info")).endpoints;
  expect(health.features.terminal_access).toBe("openTerminal" in served);
});

test("/info gives template, limits and operations", async () => {
  const info = await get<{ endpoints: Record<string, string>; start_time: string }>("/info");
  expect(info).toMatchObject({
    vm_id: sandboxId,
    agent_version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    os: "linux",
    template: "base",
    limits: { memory_mb: 100_000, disk_mb: 10, max_processes: 5 },
  });
  expect(info.endpoints.executeCode).toBe("POST /execute");
  const { process_id: job } = await startCommand(agent, "true");
  for (const endpoint of Object.values(info.endpoints)) {
    const [method = "", path = ""] = endpoint.split(" ");
    const { body } = await agent.call(method, path.replace("{key}", "A").replace("{process_id}", job));
    expect(body?.code, endpoint).not.toBe("NOT_FOUND");
  }
});

test("/system measures the machine", async () => {
  const system = await get<
    Record<string, number> & { hardware: Record<string, number>; os: Record<string, string> }
  >("/system");
  expect(system.os.kernel).toMatch(/^\d+\./);
  expect(system.hardware.cpu_cores).toBeGreaterThan(0);
  expect(system.hardware.memory_mb).toBe(100_000);
  for (const field of ["cpu_percent", "memory_percent", "disk_percent"]) {
    expect(system[field]).toBeGreaterThanOrEqual(0);
    expect(system[field]).toBeLessThanOrEqual(100);
  }
  expect(system.memory_used_mb).toBeGreaterThan(10);
  expect(system.disk_used_mb).toBeGreaterThan(0);
  expect(system.process_count).toBeGreaterThan(1);
});

test("/metrics shows processor load", async () => {
  await get("/metrics");
  // Measure again until the load is seen: on some kernels a process that has ended takes its CPU time out of the sum.
  const usage = async () => {
    await agent.execute({ code: "import time\nend = time.time() + 0.5\nwhile time.time() < end: pass" });
    const { system } = await get<{ system: { cpu: { usage_percent: number } } }>("/metrics");
    return system.cpu.usage_percent;
  };
  await expect.poll(usage).toBeGreaterThan(5);
});

describe("requests and executions are counted", () => {
  test("in the snapshot", async () => {
    const before = await get<Snapshot>("/metrics/snapshot");
    await agent.execute({ code: "print(1)" });
    await agent.execute({ code: "raise SystemExit(1)" });
    await agent.call("POST", "/execute", {});
    await agent.call("GET", "/no/such/path");
    const after = await get<Snapshot>("/metrics");
    expect(after.total_executions - before.total_executions).toBe(2);
    expect(after.error_count - before.error_count).toBe(1);
    expect(after.active_executions).toBe(0);
    const counts = ({ requests_total: { "/execute": found } }: Snapshot) => found ?? { success: 0, error: 0 };
    expect(counts(after).success - counts(before).success).toBe(2);
    expect(counts(after).error - counts(before).error).toBe(1);
    expect(after.requests_total).not.toHaveProperty("/no/such/path");
    expect(after.total_errors - before.total_errors).toBe(2);
    expect(after.avg_duration_ms["/execute"]).toBeGreaterThan(0);
    expect(after.p95_duration_ms["/execute"]).toBeGreaterThanOrEqual(after.avg_duration_ms["/execute"] ?? 0);
    expect(after.uptime_seconds).toBeGreaterThan(0);
  });

  test("for Prometheus", async () => {
    await agent.execute({ code: "print(1)" });
    const { headers, bytes } = await agent.call("GET", "/metrics/prometheus");
    expect(headers["content-type"]).toMatch(/^text\/plain/);
    const lines = bytes.toString().split("\n");
    const samples = lines.filter((line) => line !== "" && !line.startsWith("#"));
    for (const sample of samples)
      expect(sample).toMatch(/^hopx_agent_[a-z_]+(\{(\w+="[^"]*",?)+\})? [\d.e+-]+$/);
    const names = new Set(samples.map((sample) => /^\w+/.exec(sample)?.[0].replace(/_(sum|count)$/, "")));
    for (const name of names)
      expect(
        lines.some((line) => line.startsWith(`# TYPE ${name} `)),
        name,
      ).toBe(true);
    expect(lines.find((line) => line.startsWith("hopx_agent_executions_total "))).toMatch(/ [1-9]\d*$/);
  });
});

test("processes are listed with what they are", async () => {
  const { body } = await agent.run({ command: "sleep 30 & echo $!" });
  const pid = Number(body.stdout);
  const listed = () => get<{ processes: Record<string, unknown>[]; count: number }>("/processes");
  const entryIn = ({ processes }: Awaited<ReturnType<typeof listed>>) =>
    processes.find((entry) => entry.pid === pid);
  // Wait: the shell reports the pid of its child before the child has executed `sleep`.
  await eventually("it sleeps", async () => {
    const entry = entryIn(await listed());
    return entry?.name === "sleep" && entry.status === "sleeping";
  });
  const { processes, count } = await listed();
  process.kill(pid);
  expect(count).toBe(processes.length);
  expect(entryIn({ processes, count })).toMatchObject({
    name: "sleep",
    command: "sleep 30",
    status: "sleeping",
    user: expect.any(String),
    cpu_percent: expect.any(Number),
    memory_mb: expect.any(Number),
  });
});

test("a listed process is killed by its id, but not what the sandbox itself consists of", async () => {
  const killing = (pid: number) => agent.call("POST", `/execute/kill/${pid}`);
  const { body } = await agent.run({ command: "sleep 30 & echo $!" });
  const pid = Number(body.stdout);
  expect(await killing(pid)).toMatchObject({
    status: 200,
    body: { process_id: String(pid), status: "killed" },
  });
  const isListed = async (): Promise<boolean> =>
    (await get<{ processes: { pid: number; status: string }[] }>("/processes")).processes.some(
      (entry) => entry.pid === pid && entry.status !== "zombie",
    );
  await eventually("it is gone", async () => !(await isListed()));
  for (const other of [1, process.pid, 99_999_999]) expect((await killing(other)).status).toBe(404);
});

interface Snapshot {
  readonly uptime_seconds: number;
  readonly total_executions: number;
  readonly active_executions: number;
  readonly error_count: number;
  readonly total_errors: number;
  readonly requests_total: Readonly<Record<string, { readonly success: number; readonly error: number }>>;
  readonly avg_duration_ms: Readonly<Record<string, number>>;
  readonly p95_duration_ms: Readonly<Record<string, number>>;
}
