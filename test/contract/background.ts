import type { Sandbox } from "cloud-sandbox";
import { describe, expect, test } from "vitest";
import { processCount } from "../support/process-count.js";

/** What every backend must do with programs in the background. */
export function backgroundSuite(sandbox: () => Sandbox): void {
  describe("background executions", () => {
    test.each([
      ["commands", "cmd_", (line: string) => startCommand(sandbox(), line)],
      ["code", "proc_", (line: string) => startCode(sandbox(), line)],
    ] as const)("of %s run, are listed, and keep what they wrote", async (_, prefix, start) => {
      const id = await start("echo first; until [ -e /tmp/go-on ]; do sleep 0.05; done; echo last; exit 3");
      expect(id.startsWith(prefix)).toBe(true);
      await expect.poll(async () => (await output(sandbox(), id)).stdout).toBe("first\n");
      const running = await listed(sandbox(), id);
      expect(running?.status).toBe("running");
      expect(running?.started_at).toBe(running?.start_time);
      await sandbox().files.write("/tmp/go-on", "");
      await expect.poll(async () => (await listed(sandbox(), id))?.status).toBe("failed");
      expect(await listed(sandbox(), id)).toMatchObject({ exit_code: 3 });
      const rest = await output(sandbox(), id, "first\n".length);
      expect(rest).toMatchObject({ stdout: "last\n", exit_code: 3, complete: true });
      await sandbox().files.remove("/tmp/go-on");
    });

    test.each([
      [
        "DELETE /execute/kill",
        (id: string) => sandbox().agent.DELETE("/execute/kill", { params: { query: { process_id: id } } }),
      ],
      [
        "POST /execute/kill/{process_id}",
        (id: string) =>
          sandbox().agent.POST("/execute/kill/{process_id}", { params: { path: { process_id: id } } }),
      ],
      [
        "POST /processes/{process_id}/kill",
        (id: string) =>
          sandbox().agent.POST("/processes/{process_id}/kill", { params: { path: { process_id: id } } }),
      ],
    ])("are killed by %s with all that they started", async (_, kill) => {
      const id = await startCommand(sandbox(), "setsid sleep 65432 & sleep 65432");
      const running = async (): Promise<string> =>
        (await sandbox().execute(processCount("sleep 65432"), { language: "bash" })).stdout;
      await expect.poll(running).toBe("2\n");
      expect((await kill(id)).data).toMatchObject({ status: "killed", process_id: id });
      expect(await running()).toBe("0\n");
      expect((await listed(sandbox(), id))?.status).toBe("killed");
      // A kill that comes too late succeeds, because the program has ended, which is what the caller wants.
      expect((await kill(id)).data?.message).toMatch(/already ended/);
      expect((await kill("cmd_0")).response.status).toBe(404);
    });

    test("of commands are answered with the fields of an output, of which there is none yet", async () => {
      const { data } = await sandbox().agent.POST("/commands/background", { body: { command: "true" } });
      expect(data).toMatchObject({ stdout: "", stderr: "" });
    });

    test("end at their timeout", async () => {
      const id = await startCommand(sandbox(), "sleep 60", 1);
      await expect.poll(async () => (await listed(sandbox(), id))?.termination_reason).toBe("timeout");
    });

    test("of a program that is not there are refused", async () => {
      const body = { command: "no-such-program", args: [] };
      const { response, error } = await sandbox().agent.POST("/commands/background", { body });
      expect(response.status).toBe(400);
      expect(error?.message).toMatch(/no-such-program: command not found/);
    });
  });
}

async function startCommand({ agent }: Sandbox, command: string, timeout = 60): Promise<string> {
  const { data } = await agent.POST("/commands/background", { body: { command, timeout } });
  return data?.process_id ?? "";
}

async function startCode({ agent }: Sandbox, code: string): Promise<string> {
  const body = { code, language: "bash", timeout: 60 };
  return (await agent.POST("/execute/background", { body })).data?.process_id ?? "";
}

async function listed({ agent }: Sandbox, id: string) {
  const { data } = await agent.GET("/execute/processes");
  return data?.processes.find(({ process_id }) => process_id === id);
}

async function output({ agent }: Sandbox, id: string, from = 0) {
  const params = { path: { process_id: id }, query: { stdout_offset: from } };
  const { data } = await agent.GET("/execute/processes/{process_id}/output", { params });
  if (!data) throw new Error(`${id} has no output.`);
  return data;
}
