import { expect, test } from "vitest";
import { PodConnection } from "../../src/runtime/kubernetes/pod-connection.js";

test.each([
  ["it could not be reached (Unexpected server response: 403)", false],
  ["it has ended", true],
])("a connection to a Pod that is refused is lost because %s", async (reason, hasEnded) => {
  const connection = new PodConnection(
    {
      reach: () => Promise.reject(new Error("Unexpected server response: 403")),
      hasEnded: async () => hasEnded,
      ...{ secret: "secret", egressSocket: undefined, waitMs: 1000 },
    },
    AbortSignal.timeout(500),
  );
  await expect(connection.channel()).rejects.toThrow(reason);
  expect(await connection.lost).toBe(reason);
});
