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
  const assignment = {
    command: [],
    config: "",
    agentSocket: "",
    egressSocket: undefined,
    authorities: undefined,
    homeFiles: undefined,
  };
  await expect(connection.assign(assignment)).rejects.toThrow(reason);
  expect(await connection.lost).toBe(reason);
});

test("a connection is settled when the attempt to connect has ended, and does not begin another one to a frozen machine", async () => {
  let isFrozen = false;
  let attempts = 0;
  const events: string[] = [];
  let refuse = (_: Error): void => undefined;
  const connection = new MachineConnection(
    {
      reach: () => {
        attempts += 1;
        return new Promise((_, reject) => {
          refuse = reject;
        });
      },
      hasEnded: async () => {
        events.push("asked");
        return events.length > 3;
      },
      isFrozen: () => isFrozen,
      reasonOf: String,
      ...{ secret: "secret", egressSocket: undefined, waitMs: 1000 },
    },
    30_000,
  );
  isFrozen = true;
  const settled = connection.settled().then(() => events.push("settled"));
  await new Promise(setImmediate);
  expect(events).toEqual([]);
  refuse(new Error("refused"));
  await settled;
  expect(await connection.lost).toBe("it has ended");
  expect(attempts).toBe(1);
});
