import { ConflictError, NotFoundError, type Sandbox, type SandboxClient, SandboxError } from "cloud-sandbox";
import { describe, expect, test } from "vitest";
import { sandboxIds } from "../support/sandbox-ids.js";

const count = 6;

/** Asks several times before there is an answer. Resolves with the outcomes, in the order of the questions. */
function atOnce<Result>(ask: (index: number) => Promise<Result>): Promise<PromiseSettledResult<Result>[]> {
  return Promise.allSettled(Array.from({ length: count }, (_, index) => ask(index)));
}

const isFulfilled = <Result>(
  outcome: PromiseSettledResult<Result>,
): outcome is PromiseFulfilledResult<Result> => outcome.status === "fulfilled";

const reasons = (outcomes: readonly PromiseSettledResult<unknown>[]): unknown[] =>
  outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason as unknown] : []));

/**
 * What every backend must do when it is asked for several changes of one thing before it has answered the first: what is there
 * afterwards is what the changes give one after another, in some order.
 */
export function atOnceSuite(client: () => SandboxClient, sandbox: () => Sandbox, pauses: boolean): void {
  describe("asked several times at once", () => {
    test("a sandbox of a name is made once", async () => {
      const name = `at-once-${crypto.randomUUID()}`;
      const made = await atOnce(() => client().sandboxes.getOrCreate(name, { template: "base" }));
      const ids = new Set(made.filter(isFulfilled).map(({ value }) => value.id));
      expect([reasons(made), ids.size]).toEqual([[], 1]);
      expect(await sandboxIds(client(), { name })).toEqual([...ids]);
      for (const id of ids) await client().sandboxes.delete(id);
    });

    test("a sandbox is deleted, and a call that waits for it says so", async () => {
      const made = await client().sandboxes.create({ template: "base" });
      const call = made.execute("sleep 60", { language: "bash" });
      const ended = expect(call).rejects.toThrow(NotFoundError);
      expect(reasons(await atOnce(() => client().sandboxes.delete(made.id)))).toEqual([]);
      await ended;
      expect(await sandboxIds(client())).not.toContain(made.id);
    });

    test("a sandbox that is stopped and started is one or the other, and keeps its files", async () => {
      await using made = await client().sandboxes.create({ template: "base" });
      await made.files.write("kept", "yes");
      expect(reasons(await atOnce((index) => (index % 2 === 0 ? made.stop() : made.start())))).toEqual([]);
      expect((await made.refresh()).status).toMatch(/^(running|stopped)$/);
      await made.start();
      expect(await made.files.readText("kept")).toBe("yes");
    });

    if (pauses)
      test("a sandbox that is paused and resumed is one or the other, and goes on", async () => {
        await using made = await client().sandboxes.create({ template: "base" });
        await atOnce((index) => (index % 2 === 0 ? made.pause() : made.resume()));
        expect((await made.refresh()).status).toMatch(/^(running|paused)$/);
        await made.resume();
        expect((await made.execute("echo on", { language: "bash" })).stdout).toBe("on\n");
      });

    test("a deadline is one of those that were set", async () => {
      const before = Date.now();
      expect(reasons(await atOnce((index) => sandbox().setTimeout(1000 * (index + 1))))).toEqual([]);
      const { expiresAt, timeoutSeconds = 0 } = (await sandbox().refresh()).toJSON();
      expect(timeoutSeconds % 1000).toBe(0);
      expect(Math.abs((expiresAt?.getTime() ?? 0) - before - timeoutSeconds * 1000)).toBeLessThan(60_000);
    });

    test("variables that are added are all there", async () => {
      expect(
        reasons(await atOnce((index) => sandbox().env.merge({ [`ADDED_${index}`]: `${index}` }))),
      ).toEqual([]);
      const names = await sandbox().env.names();
      expect(names.filter((name) => name.startsWith("ADDED_")).sort()).toEqual(
        Array.from({ length: count }, (_, index) => `ADDED_${index}`),
      );
    });

    test("a file has what one of the writers wrote, whole", async () => {
      const text = (index: number): string => `${index}`.repeat(200_000);
      expect(reasons(await atOnce((index) => sandbox().files.write("at-once/shared", text(index))))).toEqual(
        [],
      );
      const read = await sandbox().files.readText("at-once/shared");
      expect(read === text(Number(read[0]))).toBe(true);
    });

    test("a file that must not exist yet is made by one, and the others are told", async () => {
      const made = await atOnce((index) =>
        sandbox().files.write("at-once/lock", `${index}`, { overwrite: false }),
      );
      expect(made.filter(isFulfilled)).toHaveLength(1);
      for (const reason of reasons(made)) expect(reason).toBeInstanceOf(ConflictError);
      expect(made[Number(await sandbox().files.readText("at-once/lock"))]?.status).toBe("fulfilled");
    });

    test("files that are moved to one name are all kept", async () => {
      await atOnce((index) => sandbox().files.write(`at-once/from-${index}`, `${index}`));
      const moved = await atOnce((index) =>
        sandbox().files.rename(`/workspace/at-once/from-${index}`, "/workspace/at-once/to"),
      );
      expect(moved.filter(isFulfilled)).toHaveLength(1);
      for (const reason of reasons(moved)) expect(reason).toBeInstanceOf(ConflictError);
      const texts = moved.map((outcome, index) =>
        sandbox().files.readText(
          isFulfilled(outcome) ? "/workspace/at-once/to" : `/workspace/at-once/from-${index}`,
        ),
      );
      expect(await Promise.all(texts)).toEqual(moved.map((_, index) => `${index}`));
    });

    test("a background process is ended once, and it is said that it has ended", async () => {
      const running = await sandbox().commands.runBackground("sleep 60");
      const killed = await atOnce(() => running.kill());
      expect(killed.some(isFulfilled)).toBe(true);
      for (const reason of reasons(killed)) expect(reason).toBeInstanceOf(SandboxError);
      await expect
        .poll(async () =>
          (await sandbox().system.processes()).some(({ command }) => command?.includes("sleep 60")),
        )
        .toBe(false);
    });
  });
}
