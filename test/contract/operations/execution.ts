import { expect } from "vitest";
import { type Bench, type Proof, proof, success } from "./proof.js";

export const executionProofs: Readonly<Record<string, Proof>> = {
  executeCode: proof("runs code and tells its output and exit code", async ({ agent }) => {
    const body = { code: "echo out; echo err >&2; exit 3", language: "bash" };
    const run = await success(agent.POST("/execute", { body }));
    expect(run).toMatchObject({ success: false, exit_code: 3, stdout: "out\n", stderr: "err\n" });
    expect(run.execution_time).toBeGreaterThanOrEqual(0);
  }),

  executeRich: proof("collects what code displays", async ({ agent }) => {
    const code = "class Shown:\n  def _repr_html_(self): return '<b>shown</b>'\nShown()";
    const run = await success(agent.POST("/execute/rich", { body: { code, language: "python" } }));
    expect(run.success).toBe(true);
    expect(JSON.stringify(run.rich_outputs)).toContain("<b>shown</b>");
  }),

  executeIpython: proof("runs a cell", async ({ agent }) => {
    const run = await success(agent.POST("/execute/ipython", { body: { code: "print(6 * 7)" } }));
    expect(run).toMatchObject({ success: true, stdout: "42\n" });
  }),

  executeBackground: proof("starts code and does not wait", async (bench) => {
    const body = { code: "sleep 60", language: "bash", name: "sleeper" };
    const job = await success(bench.agent.POST("/execute/background", { body }));
    expect(job).toMatchObject({ status: "running", name: "sleeper" });
    await kill(bench, job.process_id);
  }),

  executeAsync: proof("accepts code whose end is told to a URL", async ({ agent }) => {
    const body = { code: "print(1)", language: "python", callback_url: "http://127.0.0.1:9/done" };
    const accepted = await success(agent.POST("/execute/async", { body }));
    expect(accepted).toMatchObject({ callback_url: body.callback_url, execution_id: expect.any(String) });
  }),

  listExecutions: proof("lists a job with its state", async (bench) => {
    const id = await sleeper(bench);
    const { processes } = await success(bench.agent.GET("/execute/processes"));
    expect(processes.find(({ process_id }) => process_id === id)).toMatchObject({ status: "running" });
    await kill(bench, id);
  }),

  getExecutionOutput: proof("gives what a job wrote, from an offset on", async ({ agent }) => {
    const body = { command: "printf 0123456789" };
    const { process_id } = await success(agent.POST("/commands/background", { body }));
    const params = { path: { process_id }, query: { stdout_offset: 4 } };
    const read = async () =>
      (await success(agent.GET("/execute/processes/{process_id}/output", { params }))).stdout;
    await expect.poll(read).toBe("456789");
  }),

  killExecution: proof("kills a job named in the query", async (bench) => {
    const process_id = await sleeper(bench);
    const killed = await success(bench.agent.DELETE("/execute/kill", { params: { query: { process_id } } }));
    expect(killed).toMatchObject({ process_id, status: "killed" });
  }),

  killExecutionById: proof("kills a job named in the path", async (bench) => {
    const process_id = await sleeper(bench);
    const params = { path: { process_id } };
    const killed = await success(bench.agent.POST("/execute/kill/{process_id}", { params }));
    expect(killed).toMatchObject({ process_id, status: "killed" });
  }),

  killProcess: proof("is a third way to kill a job", async (bench) => {
    const process_id = await sleeper(bench);
    const params = { path: { process_id } };
    const killed = await success(bench.agent.POST("/processes/{process_id}/kill", { params }));
    expect(killed).toMatchObject({ process_id, status: "killed" });
  }),

  runCommand: proof("runs argv as it is, and a line through a shell", async ({ agent }) => {
    const run = async (body: { command: string; args?: string[]; workdir?: string; working_dir?: string }) =>
      (await success(agent.POST("/commands/run", { body }))).stdout;
    expect(await run({ command: "printf", args: ["%s|", "$HOME", "a b"] })).toBe("$HOME|a b|");
    expect(await run({ command: "echo a | tr a b && pwd", workdir: "/tmp" })).toBe("b\n/tmp\n");
    expect(await run({ command: "pwd", working_dir: "/tmp" })).toBe("/tmp\n");
  }),

  runCommandBackground: proof("starts a command under an id that begins with cmd_", async (bench) => {
    const job = await success(bench.agent.POST("/commands/background", { body: { command: "sleep 60" } }));
    expect(job.process_id).toMatch(/^cmd_/);
    await kill(bench, job.process_id);
  }),

  listSystemProcesses: proof("lists what runs in the sandbox", async ({ agent }) => {
    const { processes } = await success(agent.GET("/processes"));
    expect(processes.length).toBeGreaterThan(0);
    expect(processes[0]).toMatchObject({ pid: expect.any(Number), command: expect.any(String) });
  }),

  listJupyterSessions: proof("lists the interpreters that keep state", async ({ agent }) => {
    await success(agent.POST("/execute", { body: { code: "1", language: "python" } }));
    expect((await success(agent.GET("/jupyter/sessions"))).sessions).toBeInstanceOf(Array);
  }),

  restartJupyterSession: proof("forgets its variables, and keeps its id", async (bench) => {
    const params = await sessionOf(bench, "restarted");
    const again = await success(bench.agent.POST("/jupyter/sessions/{kernel_id}/restart", { params }));
    expect(again.kernel_id).toBe(params.path.kernel_id);
    const missing = { code: "x", language: "python", context: "restarted" };
    const { stderr, success: isFound } = await success(bench.agent.POST("/execute", { body: missing }));
    expect([isFound, stderr]).toEqual([false, expect.stringContaining("was restarted")]);
  }),

  deleteJupyterSession: proof("ends it", async (bench) => {
    const params = await sessionOf(bench, "ended");
    await success(bench.agent.DELETE("/jupyter/sessions/{kernel_id}", { params }));
    const again = await bench.agent.DELETE("/jupyter/sessions/{kernel_id}", { params });
    expect(again.response.status).toBe(404);
  }),
};

/** A session with a variable, as the parameters of a call. */
async function sessionOf({ agent }: Bench, context: string) {
  await success(agent.POST("/execute", { body: { code: "x = 1", language: "python", context } }));
  const { sessions } = await success(agent.GET("/jupyter/sessions"));
  return { path: { kernel_id: sessions?.find((session) => session.context === context)?.kernel_id ?? "" } };
}

async function sleeper({ agent }: Bench): Promise<string> {
  return (await success(agent.POST("/commands/background", { body: { command: "sleep 60" } }))).process_id;
}

const kill = ({ agent }: Bench, process_id: string): Promise<unknown> =>
  agent.DELETE("/execute/kill", { params: { query: { process_id } } });
