import { expect } from "vitest";
import { type Bench, type Proof, proof, success } from "./proof.js";

const name = "of-the-operations";

export const snapshotProofs: Readonly<Record<string, Proof>> = {
  createSnapshot: proof("keeps the files of a sandbox", async (bench) => {
    await withSnapshot(bench, async (id, sandboxId) => {
      const again = bench.controlPlane.POST("/v1/sandboxes/{id}/snapshots", {
        params: { path: { id: sandboxId } },
        body: { name },
      });
      expect(await again).toMatchObject({ error: { code: "CONFLICT" } });
      await bench.withSandbox(async (made) => expect(await made.files.readText("file")).toBe("kept"), {
        snapshot: id,
        template: undefined,
      });
    });
  }),

  listSnapshots: proof("lists the snapshots", async (bench) => {
    await withSnapshot(bench, async (id) => {
      const { data } = await success(bench.controlPlane.GET("/v1/snapshots"));
      expect(data.find((each) => each.id === id)).toMatchObject({ name, template_name: "base" });
    });
  }),

  getSnapshot: proof("finds a snapshot by its id or name", async (bench) => {
    await withSnapshot(bench, async (id, sandboxId) => {
      for (const wanted of [id, name])
        expect(await success(get(bench, wanted))).toMatchObject({
          id,
          object: "snapshot",
          sandbox_id: sandboxId,
        });
    });
    expect(await get(bench, name)).toMatchObject({ error: { code: "SNAPSHOT_NOT_FOUND" } });
  }),

  deleteSnapshot: proof("deletes a snapshot", async (bench) => {
    await withSnapshot(bench, async (id) => {
      const params = { path: { id: name } };
      const deleted = await success(bench.controlPlane.DELETE("/v1/snapshots/{id}", { params }));
      expect(deleted).toMatchObject({ id, deleted: true });
      expect(await get(bench, id)).toMatchObject({ error: { code: "SNAPSHOT_NOT_FOUND" } });
    });
  }),

  forkSandbox: proof("makes sandboxes with the files of one", async (bench) => {
    await bench.withSandbox(async ({ id, files }) => {
      await files.write("file", "kept");
      const params = { path: { id } };
      const body = { count: 2, timeout_seconds: 120 };
      const { data } = await success(bench.controlPlane.POST("/v1/sandboxes/{id}/fork", { params, body }));
      expect(data).toHaveLength(2);
      for (const { sandbox } of data) {
        expect(sandbox).toMatchObject({ status: "running", auth_token: expect.any(String) });
        await bench.client.sandboxes.delete(sandbox?.id ?? "");
      }
    });
  }),

  restoreSandbox: proof("gives a sandbox the files of a snapshot", async (bench) => {
    await withSnapshot(bench, async (_, id) => {
      const sandbox = await bench.client.sandboxes.get(id);
      await sandbox.files.write("file", "changed");
      const call = bench.controlPlane.POST("/v1/sandboxes/{id}/restore", {
        params: { path: { id } },
        body: { snapshot: name },
      });
      expect(await success(call)).toMatchObject({ id, status: "running" });
      expect(await sandbox.files.readText("file")).toBe("kept");
    });
  }),
};

const get = ({ controlPlane }: Bench, id: string) =>
  controlPlane.GET("/v1/snapshots/{id}", { params: { path: { id } } });

/** A snapshot of a sandbox with a file. */
async function withSnapshot(
  bench: Bench,
  use: (id: string, sandboxId: string) => Promise<void>,
): Promise<void> {
  await bench.withSandbox(async (sandbox) => {
    await sandbox.files.write("file", "kept");
    const { id } = await sandbox.snapshot({ name });
    try {
      await use(id, sandbox.id);
    } finally {
      await bench.client.snapshots.delete(id);
    }
  });
}
