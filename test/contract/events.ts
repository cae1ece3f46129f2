import type { Sandbox, SandboxClient, SandboxEvent } from "cloud-sandbox";
import { describe, expect, test } from "vitest";

/** What every backend must tell of sandboxes and executions, as they happen. */
export function eventSuite(client: () => SandboxClient, pauses: boolean): void {
  /** The types of a sandbox's events from the beginning until one of the type. */
  const until = async (sandbox: Sandbox, type: SandboxEvent["type"]): Promise<SandboxEvent[]> => {
    const events: SandboxEvent[] = [];
    for await (const event of client().events({ since: "0", sandbox: sandbox.id })) {
      events.push(event);
      if (event.type === type) break;
    }
    return events;
  };
  const types = (events: readonly SandboxEvent[]) => events.map(({ type }) => type);

  describe("events", () => {
    test("tell the life of a sandbox in order, also once it is gone", async () => {
      const sandbox = await client().sandboxes.create({ template: "base", name: "told" });
      if (pauses) {
        await sandbox.pause();
        await sandbox.resume();
      }
      await sandbox.commands.run("true");
      await sandbox.delete();
      const events = await until(sandbox, "sandbox.deleted");
      expect(types(events)).toEqual([
        "sandbox.created",
        ...(pauses ? ["sandbox.paused", "sandbox.resumed"] : []),
        "execution.started",
        "execution.ended",
        "sandbox.deleted",
      ]);
      expect(events.every(({ sandboxId }) => sandboxId === sandbox.id)).toBe(true);
      expect(events[0]).toMatchObject({ name: "told", template: "base" });
      const [started, ended] = events.slice(-3);
      expect(started).toMatchObject({ kind: "command", executionId: ended?.executionId });
      expect(ended).toMatchObject({ outcome: "completed", durationSeconds: expect.any(Number) });
    });

    test("of code in the background tell how it ended", async () => {
      await using sandbox = await client().sandboxes.create({ template: "base" });
      const job = await sandbox.commands.runBackground("exit 3");
      const ended = (await until(sandbox, "execution.ended")).at(-1);
      expect(ended).toMatchObject({ kind: "background", executionId: job.id, outcome: "failed" });
    });

    test("go on after the last one that was read, and are only those that are asked for", async () => {
      await using sandbox = await client().sandboxes.create({ template: "base" });
      const [created] = await until(sandbox, "sandbox.created");
      const rest = client().events({ since: created?.id ?? "", types: ["execution.ended"] });
      const next = rest.next();
      await sandbox.commands.run("true");
      expect((await next).value).toMatchObject({ type: "execution.ended", sandboxId: sandbox.id });
      await rest.return();
    });

    test("of a server that kept none are refused, and so are types that there are not", async () => {
      await expect(client().events({ since: "00000000-7" }).next()).rejects.toMatchObject({
        code: "EVENTS_GONE",
      });
      await expect(
        client()
          .events({ types: ["sandbox.sold" as never] })
          .next(),
      ).rejects.toMatchObject({
        message: expect.stringContaining("sandbox.sold"),
      });
    });
  });
}
