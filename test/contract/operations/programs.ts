import { expect } from "vitest";
import { type Proof, proof, success } from "./proof.js";

export const programProofs: Readonly<Record<string, Proof>> = {
  runProgram: proof(
    "answers with outputs and exit code, once for each key, and leaves no sandbox",
    async ({ client, controlPlane }) => {
      const level = expect.stringMatching(/^(namespace|container|gvisor|microvm)$/);
      const code = "echo out; echo err >&2; exit 3";
      for (const internet_access of [true, false]) {
        const body = { code, language: "shell", internet_access };
        const key = `program-${Math.random()}`;
        const run = () =>
          success(
            controlPlane.POST("/v1/executions", { body, params: { header: { "Idempotency-Key": key } } }),
          );
        const ended = await run();
        expect(ended).toMatchObject({
          ...{ success: false, stdout: "out\n", stderr: "err\n", exit_code: 3, termination_reason: "exit" },
          ...{ language: "bash", isolation: level, rich_outputs: [] },
        });
        expect(await run()).toEqual(ended);
        await expect(client.sandboxes.get(ended.id)).rejects.toMatchObject({ code: "SANDBOX_NOT_FOUND" });
      }
    },
  ),
};
