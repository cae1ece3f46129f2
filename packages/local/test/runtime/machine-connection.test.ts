import { expect, test } from "vitest";
import { MachineConnection } from "../../src/runtime/container/channel/machine-connection.js";

test.each([
  ["it could not be reached (Unexpected server response: 403)", false],
  ["it has ended", true],
])("a connection to a machine that is refused is lost because %s", async (reason, hasEnded) => {
  const connection = new MachineConnection(
    {
      reach: () => Promise.reject(new Error("Unexpected server response: 403")),
      hasEnded: async () => hasEnded,
      isFrozen: () => false,
      reasonOf: (error) => (error instanceof Error ? error.message : String(error)),
      ...{ secret: "secret", egressSocket: undefined, waitMs: 1000 },
    },
    500,
  );
  const assignment = { command: [], config: "", agentSocket: "", egressSocket: undefined };
  await expect(connection.assign(assignment)).rejects.toThrow(reason);
  expect(await connection.lost).toBe(reason);
});
