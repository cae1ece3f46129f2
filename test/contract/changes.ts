import {
  ConflictError,
  NotFoundError,
  type Sandbox,
  type SandboxChange,
  type SandboxClient,
  ValidationError,
} from "cloud-sandbox";
import { describe, expect, test } from "vitest";

/** What every backend must do to compare sandboxes with templates and snapshots. `hasLinks`: whether it has links, pipes and names that are no text. */
export function changeSuite(client: () => SandboxClient, hasLinks: boolean): void {
  const create = (): Promise<Sandbox> => client().sandboxes.create({ template: "base" });
  const ids = async (): Promise<string[]> => {
    const all: string[] = [];
    for await (const { id } of client().sandboxes.list()) all.push(id);
    return all.sort();
  };
  const seen = (changes: readonly SandboxChange[]): string[] =>
    changes.map(({ kind, type, path }) => `${kind} ${type} ${path}`);

  describe("what code changed", () => {
    test("since the template is nothing at first, and then what it made", async () => {
      await using sandbox = await create();
      expect(await sandbox.changes()).toEqual([]);
      await sandbox.files.write("/workspace/a/file", "first\n");
      await sandbox.files.write("/tmp/.profile", "second");
      const changes = await sandbox.changes({ since: "template" });
      expect(seen(changes)).toEqual([
        "added file /tmp/.profile",
        "added directory /workspace/a",
        "added file /workspace/a/file",
      ]);
      expect(changes[0]).toMatchObject({ size: 6, executable: false, runs: true, versionControl: false });
      expect(changes[2]?.digest).toBe("b640e840b19d378660b32fb51ae18d67dccb4a8596a29e7bd72c1b2ae5928f41");
      expect(await sandbox.diff("/workspace/a/file")).toEqual({
        diff: "--- /dev/null\n+++ b/workspace/a/file\n@@ -0,0 +1,1 @@\n+first\n",
        omitted: undefined,
      });
      await expect(sandbox.diff("/workspace/missing")).rejects.toThrow(NotFoundError);
    });

    test("since a snapshot is found by content, also where the size is the same", async () => {
      await using sandbox = await create();
      const { files } = sandbox;
      await files.write("/workspace/kept", "kept\n");
      await files.write("/workspace/same-size", "one\n");
      await files.write("/workspace/longer", "one\n");
      await files.write("/workspace/program", "run\n");
      await files.write("/workspace/gone/.git/in", "x");
      await files.write("/workspace/gone/out", "x");
      await files.write("/workspace/became", "x");
      const snapshot = await sandbox.snapshot({ name: "to-compare" });
      expect(await sandbox.changes({ since: snapshot })).toEqual([]);
      await files.write("/workspace/kept", "kept\n");
      await files.write("/workspace/same-size", "two\n");
      await files.write("/workspace/longer", "one\ntwo\n");
      await files.write("/workspace/program", "run\n", { mode: "0755" });
      await files.remove("/workspace/gone");
      await files.remove("/workspace/became");
      await files.write("/workspace/became/directory", "x");
      const changes = await sandbox.changes({ since: "to-compare" });
      expect(seen(changes)).toEqual([
        "changed directory /workspace/became",
        "added file /workspace/became/directory",
        "removed directory /workspace/gone",
        "changed file /workspace/longer",
        "mode file /workspace/program",
        "changed file /workspace/same-size",
      ]);
      expect(changes[2]).toMatchObject({ entries: 3, versionControl: true });
      expect(changes[4]).toMatchObject({ executable: true, size: 4 });
      expect((await sandbox.diff("/workspace/same-size", { since: snapshot.id })).diff).toBe(
        "--- a/workspace/same-size\n+++ b/workspace/same-size\n@@ -1,1 +1,1 @@\n-one\n+two\n",
      );
      expect((await sandbox.diff("/workspace/same-size")).diff).toContain("--- /dev/null\n");
      expect((await sandbox.diff("/workspace/gone/out", { since: snapshot })).diff).toContain(
        "+++ /dev/null\n",
      );
      await sandbox.restore(snapshot);
      expect(await sandbox.changes({ since: snapshot })).toEqual([]);
      await client().snapshots.delete(snapshot.id);
    });

    test("is refused with the reason where it cannot be told, and leaves no sandbox behind", async () => {
      await using sandbox = await create();
      await using other = await create();
      const before = await ids();
      const { id } = await other.snapshot();
      for (const compared of [
        (since: string) => sandbox.changes({ since }),
        (since: string) => sandbox.diff("/workspace/a", { since }),
      ]) {
        await expect(compared(id)).rejects.toThrow(ConflictError);
        await expect(compared("no-such-one")).rejects.toMatchObject({ code: "SNAPSHOT_NOT_FOUND" });
        await expect(compared("/workspace")).rejects.toThrow(ValidationError);
      }
      await expect(sandbox.diff("/workspace/../etc/passwd")).rejects.toThrow(ValidationError);
      await expect(sandbox.apply()).rejects.toThrow(ValidationError);
      await expect(sandbox.apply({ since: "template" })).rejects.toThrow(ValidationError);
      expect(await other.changes({ since: id })).toEqual([]);
      expect(await ids()).toEqual(before);
      await client().snapshots.delete(id);
      await sandbox.stop();
      await expect(sandbox.changes()).rejects.toThrow(ConflictError);
    });

    test("is told of links, pipes, closed directories and names that are no text", async ({ skip }) => {
      if (!hasLinks) skip("the backend has only files and directories");
      await using sandbox = await create();
      const run = async (command: string): Promise<void> => {
        const { exitCode, stderr } = await sandbox.commands.run(command);
        expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
      };
      await run(String.raw`mkdir -p d/closed; ln -s old d/link; ln -s stays d/same; echo x > "d/n
l"; echo x > d/closed/in; echo x > d/pipe; echo x > "$(printf 'd/\377\303')"`);
      const snapshot = await sandbox.snapshot();
      await run(String.raw`cd d; ln -sfn new link; ln -sfn stays same; rm "n
l" pipe; mkfifo pipe; python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'; echo y > closed/in; chmod 0 closed; echo y > "$(printf '\377\303')"; ln -s /etc/passwd away`);
      const changes = await sandbox.changes({ since: snapshot });
      expect(seen(changes)).toEqual([
        "added link /workspace/d/away",
        "changed file /workspace/d/closed/in",
        "changed link /workspace/d/link",
        "removed file /workspace/d/n\nl",
        "changed other /workspace/d/pipe",
        "added other /workspace/d/socket",
        "changed file /workspace/d/\udcff\udcc3",
      ]);
      expect(changes[2]).toMatchObject({ target: "new", digest: expect.stringMatching(/^[0-9a-f]{64}$/) });
      expect((await sandbox.diff("/workspace/d/link", { since: snapshot })).diff).toContain("-old\n");
      expect(await sandbox.diff("/workspace/d/pipe", { since: snapshot })).toMatchObject({
        omitted: "binary",
      });
      await run("[ $((0$(stat -c %a d/closed) & 0777)) = 0 ] && chmod 755 d/closed");
      await client().snapshots.delete(snapshot.id);
    });
  });
}
