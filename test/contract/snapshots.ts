import { ConflictError, NotFoundError, Sandbox, type SandboxClient, ValidationError } from "cloud-sandbox";
import { describe, expect, test } from "vitest";

/** What every backend must do with snapshots, as users of the client see it. `deepest`: how many snapshots are taken of one another. */
export function snapshotSuite(client: () => SandboxClient, deepest: number): void {
  describe("a snapshot", () => {
    test("has the files and variables of its sandbox as they were, and the sandbox goes on", async () => {
      await using source = await client().sandboxes.create({ template: "base", env: { KEPT: "yes" } });
      await source.files.write("/workspace/a/file", "first");
      await source.files.write("/tmp/b", "second");
      await source.execute("x = 1");
      const snapshot = await source.snapshot({ name: "as-it-was", metadata: { a: "1" } });
      expect(snapshot).toMatchObject({
        ...{ name: "as-it-was", metadata: { a: "1" }, sandboxId: source.id, template: "base" },
        kept: { files: true, environment: true, variables: false, processes: false },
      });
      await source.files.write("/workspace/a/file", "later");
      expect((await source.execute("x")).value).toBe("1");

      await using made = await client().sandboxes.create({ snapshot: "as-it-was", env: { OWN: "too" } });
      expect(await made.files.readText("/workspace/a/file")).toBe("first");
      expect(await made.files.readText("/tmp/b")).toBe("second");
      expect(await made.env.names()).toEqual(expect.arrayContaining(["KEPT", "OWN"]));
      expect((await made.execute("x")).success).toBe(false);
      expect(made.template).toBe("base");
      await client().snapshots.delete(snapshot.id);
      expect(await made.files.readText("/workspace/a/file")).toBe("first");
      await expect(client().snapshots.get(snapshot.id)).rejects.toThrow(NotFoundError);
      // A second delete must succeed, because a clean-up cannot know whether the snapshot still exists.
      await client().snapshots.delete(snapshot.id);
    });

    test("gives files and variables alone, if that is asked for", async () => {
      await using source = await client().sandboxes.create({ template: "base", env: { KEPT: "yes" } });
      await source.files.write("/workspace/a/file", "first");
      await source.files.write("/tmp/b", "second");
      const snapshot = await source.snapshot();
      await using made = await client().sandboxes.create({ snapshot, filesOnly: true });
      expect(await made.files.readText("/workspace/a/file")).toBe("first");
      expect(await made.files.readText("/tmp/b")).toBe("second");
      expect(await made.env.names()).toContain("KEPT");
      await client().snapshots.delete(snapshot.id);
    });

    test("can be taken of a stopped sandbox, and outlives it", async () => {
      const source = await client().sandboxes.create({ template: "base" });
      await source.files.write("file", "kept");
      await source.stop();
      const snapshot = await source.snapshot();
      await source.start();
      expect(await source.files.readText("file")).toBe("kept");
      await source.delete();
      await using made = await client().sandboxes.create({ snapshot });
      expect(await made.files.readText("file")).toBe("kept");
      await client().snapshots.delete(snapshot.id);
    });

    test(`keeps every byte when it is one of ${deepest} that were taken of one another`, async () => {
      let sandbox = await client().sandboxes.create({ template: "base" });
      try {
        for (let depth = 1; depth <= deepest; depth++) {
          await sandbox.files.write(`of/${depth}`, `depth ${depth}`);
          const { id } = await sandbox.snapshot();
          await sandbox.delete();
          sandbox = await client().sandboxes.create({ snapshot: id });
          await client().snapshots.delete(id);
        }
        for (let depth = 1; depth <= deepest; depth++)
          expect(await sandbox.files.readText(`of/${depth}`)).toBe(`depth ${depth}`);
      } finally {
        await sandbox.delete();
      }
    }, 300_000);

    test("never changes, also when its sandbox was stopped, goes back to it, and is stopped again", async () => {
      await using sandbox = await client().sandboxes.create({ template: "base" });
      await sandbox.files.write("file", "kept");
      await sandbox.stop();
      const snapshot = await sandbox.snapshot();
      for (const later of ["later", "still later"]) {
        await sandbox.restore(snapshot);
        expect(await sandbox.files.readText("file")).toBe("kept");
        await sandbox.files.write("file", later);
        await sandbox.stop();
      }
      await using made = await client().sandboxes.create({ snapshot });
      expect(await made.files.readText("file")).toBe("kept");
      await sandbox.start();
      expect(await sandbox.files.readText("file")).toBe("still later");
      await client().snapshots.delete(snapshot.id);
    });

    test("is refused with the reason where it cannot be", async () => {
      await using source = await client().sandboxes.create({ template: "base" });
      await using other = await client().sandboxes.create({ template: "code-interpreter" });
      const { id } = await source.snapshot({ name: "taken" });
      await expect(source.snapshot({ name: "taken" })).rejects.toThrow(ConflictError);
      await expect(other.restore("taken")).rejects.toThrow(ConflictError);
      await expect(client().sandboxes.create({ snapshot: "no-such-one" })).rejects.toThrow(NotFoundError);
      await expect(source.restore("no-such-one")).rejects.toThrow(NotFoundError);
      await expect(client().sandboxes.create({ snapshot: id, template: "base" })).rejects.toThrow(
        ValidationError,
      );
      await expect(client().sandboxes.create({ template: "base", filesOnly: true })).rejects.toThrow(
        ValidationError,
      );
      await client().snapshots.delete("taken");
    });
  });

  test("sandboxes that are forked begin with the same files, and are each their own", async () => {
    await using source = await client().sandboxes.create({
      template: "base",
      name: "forked",
      metadata: { of: "fork" },
      env: { KEPT: "yes" },
    });
    await source.files.write("file", "same");
    const forks = (await source.fork({ count: 3, timeoutSeconds: 200 })).map(made);
    try {
      expect(new Set([source.id, ...forks.map(({ id }) => id)]).size).toBe(4);
      for (const fork of forks) {
        expect(fork.toJSON()).toMatchObject({
          name: undefined,
          metadata: { of: "fork" },
          timeoutSeconds: 200,
        });
        expect(await fork.files.readText("file")).toBe("same");
        expect(await fork.env.names()).toContain("KEPT");
        await fork.files.write("file", fork.id);
      }
      for (const fork of forks) expect(await fork.files.readText("file")).toBe(fork.id);
      expect(await source.files.readText("file")).toBe("same");
      expect((await client().snapshots.list()).map(({ sandboxId }) => sandboxId)).not.toContain(source.id);
    } finally {
      await Promise.all(forks.map((fork) => fork.delete()));
    }
  });

  test("a sandbox goes back to a snapshot, with its id and settings", async () => {
    await using sandbox = await client().sandboxes.create({ template: "base", metadata: { stays: "yes" } });
    await sandbox.files.write("file", "before");
    await sandbox.files.write("removed", "before");
    const snapshot = await sandbox.snapshot();
    await sandbox.files.write("file", "after");
    await sandbox.files.write("added", "after");
    await sandbox.files.remove("removed");
    await sandbox.update({ metadata: { stays: "too" } });
    await sandbox.restore(snapshot);
    expect((await sandbox.refresh()).toJSON()).toMatchObject({
      status: "running",
      metadata: { stays: "too" },
    });
    expect(await sandbox.files.readText("file")).toBe("before");
    expect(await sandbox.files.readText("removed")).toBe("before");
    expect(await sandbox.files.exists("added")).toBe(false);
    await sandbox.files.write("file", "again");
    await sandbox.stop();
    await sandbox.restore(snapshot);
    expect(await sandbox.files.readText("file")).toBe("before");
    await client().snapshots.delete(snapshot.id);
  });
}

/** The sandbox of a fork. Throws if it could not be made. */
function made(fork: Sandbox | Error): Sandbox {
  if (fork instanceof Sandbox) return fork;
  throw fork;
}
