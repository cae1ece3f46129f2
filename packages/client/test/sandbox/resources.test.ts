import { describe, expect, test } from "vitest";
import type { Sandbox } from "../../src/index.js";
import { rejection } from "../support/clients.js";
import { ok, sandboxWith } from "../support/sandbox-of-service.js";
import { finished } from "../support/sandbox-service.js";
import { type Handler, json } from "../support/scripted-server.js";

describe("an execution", () => {
  test("sends the options that were given, and no others", async () => {
    const { sandbox, agent } = await sandboxWith({});
    await sandbox.execute("1", { language: "bash", timeoutSeconds: 5, env: { A: "1" }, workdir: "/tmp" });
    await sandbox.execute("2");
    expect(agent.requests.map(({ json }) => json)).toEqual([
      { code: "1", language: "bash", timeout: 5, env: { A: "1" }, workdir: "/tmp", capture_rich: true },
      { code: "2", language: "python", timeout: 30, capture_rich: true },
    ]);
  });

  test("gives its result in this client's names", async () => {
    const { sandbox } = await sandboxWith({
      "POST /execute/rich": ok(
        finished({
          success: false,
          exit_code: 124,
          termination_reason: "timeout",
          language: "python",
          stdout_truncated: true,
          stdout_bytes: 5_000_000,
          stdout_file: "/tmp/out",
          result: "2.0",
          png: "iVBORw0KGgo=",
          svg: "<svg/>",
          html: "<b>1</b>",
          markdown: "# 1",
          json: { a: 1 },
        }),
      ),
    });
    expect(await sandbox.execute("1")).toEqual({
      kind: "result",
      success: false,
      cached: false,
      contextLost: false,
      error: undefined,
      richOutputsDropped: 0,
      stdout: "1\n",
      stderr: "",
      exitCode: 124,
      executionTimeSeconds: 0.01,
      terminationReason: "timeout",
      output: {
        stdout: { truncated: true, bytes: 5_000_000, file: "/tmp/out" },
        stderr: { truncated: false, bytes: undefined, file: undefined },
      },
      language: "python",
      value: "2.0",
      richOutputs: [
        { type: "image/png", data: "iVBORw0KGgo=" },
        { type: "image/svg+xml", data: "<svg/>" },
        { type: "text/html", data: "<b>1</b>" },
        { type: "text/markdown", data: "# 1" },
        { type: "application/json", data: { a: 1 } },
      ],
    });
  });

  test("is awaited longer than its own time limit, and much longer than other requests", async () => {
    const slow: Handler = (_, response) => setTimeout(() => json(response, 200, finished()), 1500);
    const { sandbox } = await sandboxWith(
      { "POST /execute/rich": slow },
      { timeouts: { requestSeconds: 1 } },
    );
    expect((await sandbox.execute("1", { timeoutSeconds: 1 })).stdout).toBe("1\n");
    expect((await sandbox.agent.POST("/execute/rich", { body: { code: "1" } })).response.status).toBe(200);
  });

  test.each([0, 301, 1.5, Number.NaN, Number.POSITIVE_INFINITY])(
    "is refused a timeout of %d",
    async (timeout) => {
      const { sandbox, agent } = await sandboxWith({});
      expect(await rejection(sandbox.execute("1", { timeoutSeconds: timeout }))).toMatchObject({
        name: "ValidationError",
      });
      expect(await rejection(sandbox.commands.run("true", { timeoutSeconds: timeout }))).toMatchObject({
        name: "ValidationError",
      });
      expect(agent.requests).toEqual([]);
    },
  );
});

describe("a command", () => {
  test.each([
    ["text is a line for bash", "echo $HOME | wc", { command: "bash", args: ["-c", "echo $HOME | wc"] }],
    ["an array is a program", ["echo", "$HOME", ""], { command: "echo", args: ["$HOME", ""] }],
  ])("%s", async (_, command, expected) => {
    const { sandbox, agent } = await sandboxWith({ "POST /commands/run": ok(finished({ pid: 7 })) });
    expect(await sandbox.commands.run(command)).toMatchObject({ stdout: "1\n", exitCode: 0, pid: 7 });
    expect(agent.requests[0]?.json).toEqual({ ...expected, timeout: 30 });
  });

  test.each(["", "  ", [], [""]])("%j is refused", async (command) => {
    const { sandbox, agent } = await sandboxWith({});
    expect(await rejection(sandbox.commands.run(command))).toMatchObject({ name: "ValidationError" });
    expect(agent.requests).toEqual([]);
  });
});

describe("environment variables", () => {
  test("are shown, replaced, merged, deleted and cleared, also by a server that answers without a body", async () => {
    const empty: Handler = (_, response) => response.writeHead(204).end();
    const { sandbox, agent } = await sandboxWith({
      "GET /env": ok({ env_vars: { A: "1", API_KEY: "***MASKED***" } }),
      "PUT /env": empty,
      "PATCH /env": empty,
      "DELETE /env": empty,
      "DELETE /env/A": empty,
    });
    expect(await sandbox.env.get()).toEqual({ A: "1", API_KEY: "***MASKED***" });
    await sandbox.env.replace({ B: "2" });
    await sandbox.env.merge({ C: "3" });
    await sandbox.env.unset("A");
    await sandbox.env.clear();
    expect(agent.calls()).toEqual(["GET /env", "PUT /env", "PATCH /env", "DELETE /env/A", "DELETE /env"]);
    expect(agent.requests[1]?.json).toEqual({ env_vars: { B: "2" } });
    expect(agent.requests[2]?.json).toEqual({ env_vars: { C: "3" }, merge: true });
  });

  test.each<[string, (sandbox: Sandbox) => Promise<void>]>([
    ["a mask set", (sandbox) => sandbox.env.replace({ API_KEY: "***MASKED***" })],
    ["a mask merged", (sandbox) => sandbox.env.merge({ API_KEY: "***MASKED***" })],
    ["no name deleted", (sandbox) => sandbox.env.unset("")],
    ["a path deleted", (sandbox) => sandbox.env.unset("..")],
  ])("%s is refused before anything is sent", async (_, call) => {
    const { sandbox, agent } = await sandboxWith({});
    expect(await rejection(call(sandbox))).toMatchObject({ name: "ValidationError" });
    expect(agent.requests).toEqual([]);
  });
});

describe("answers of an agent", () => {
  test("are given in the names of this client", async () => {
    const { sandbox } = await sandboxWith({
      "GET /health": ok({
        status: "healthy",
        version: "1.0",
        features: { languages: ["python"] },
        active_executions: 1,
      }),
      "GET /info": ok({
        agent_version: "1.0",
        os: "linux",
        arch: "x64",
        start_time: "2026-11-01T10:00:00Z",
        limits: { memory_mb: 512, max_processes: 64 },
      }),
      "GET /metrics/snapshot": ok({
        uptime_seconds: 5,
        total_executions: 2,
        system: { cpu: { usage_percent: 3 }, memory: { usage_percent: 4, used_mb: 5, total_mb: 6 } },
        process: { count: 7 },
      }),
      "GET /processes": ok({
        processes: [{ pid: 1, ppid: 0, name: "init", cpu_percent: 0.5, memory_mb: 3 }],
      }),
    });
    expect(await sandbox.system.health()).toEqual({
      healthy: true,
      status: "healthy",
      version: "1.0",
      languages: ["python"],
      activeExecutions: 1,
      features: { languages: ["python"] },
    });
    expect(await sandbox.system.info()).toMatchObject({
      version: "1.0",
      platform: "linux/x64",
      startedAt: new Date("2026-11-01T10:00:00Z"),
      limits: { memoryMb: 512, diskMb: undefined, maxProcesses: 64 },
    });
    expect(await sandbox.metrics.snapshot()).toMatchObject({
      uptimeSeconds: 5,
      totalExecutions: 2,
      cpuPercent: 3,
      memory: { percent: 4, usedMb: 5, totalMb: 6 },
      disk: { percent: undefined },
      processCount: 7,
    });
    expect(await sandbox.system.processes()).toMatchObject([
      { pid: 1, parentPid: 0, name: "init", cpuPercent: 0.5 },
    ]);
  });
});
