import { expect } from "vitest";
import { type Bench, type Proof, proof, success } from "./proof.js";

const name = "of-the-contract-suite";

export const volumeProofs: Readonly<Record<string, Proof>> = {
  createVolume: proof(
    "makes a volume that sandboxes share, or says that the server has none",
    async (bench) => {
      await withVolume(bench, async ({ id }) => {
        const again = await bench.controlPlane.POST("/v1/volumes", { body: { name } });
        expect(again).toMatchObject({ error: { code: "CONFLICT" } });
        await bench.withSandbox(
          async (writer) => {
            await bench.withSandbox(
              async (reader) => {
                await writer.commands.run("echo shared > /data/file");
                expect(await reader.commands.run("cat /mnt/same/file")).toMatchObject({ stdout: "shared\n" });
              },
              { mounts: { "/mnt/same": { volume: name, readOnly: true } } },
            );
          },
          { mounts: { "/data": { id } } },
        );
      });
    },
  ),

  listVolumes: proof("tells the size of each volume, or says that the server has none", async (bench) => {
    await withVolume(bench, async ({ id }) => {
      const { data } = await success(bench.controlPlane.GET("/v1/volumes"));
      expect(data.find((each) => each.id === id)).toMatchObject({ name, size_mb: 16, sandboxes: [] });
    });
  }),

  getVolume: proof("finds a volume by its id or name, or says that the server has none", async (bench) => {
    await withVolume(bench, async ({ id }) => {
      for (const wanted of [id, name])
        expect(await success(get(bench, wanted))).toMatchObject({ id, name, object: "volume" });
      expect(await get(bench, "no-such-volume")).toMatchObject({ error: { code: "VOLUME_NOT_FOUND" } });
    });
  }),

  deleteVolume: proof(
    "deletes a volume that no sandbox mounts, or says that the server has none",
    async (bench) => {
      await withVolume(bench, async ({ id }) => {
        await bench.withSandbox(
          async (sandbox) => {
            const refused = await remove(bench, name);
            expect(refused).toMatchObject({ error: { code: "VOLUME_IN_USE" } });
            expect(JSON.stringify(refused.error)).toContain(sandbox.id);
          },
          { mounts: { "/data": { volume: name } } },
        );
        expect(await success(remove(bench, name))).toMatchObject({ id, deleted: true });
        expect(await get(bench, id)).toMatchObject({ error: { code: "VOLUME_NOT_FOUND" } });
      });
    },
  ),
};

const get = ({ controlPlane }: Bench, id: string) =>
  controlPlane.GET("/v1/volumes/{id}", { params: { path: { id } } });

const remove = ({ controlPlane }: Bench, id: string) =>
  controlPlane.DELETE("/v1/volumes/{id}", { params: { path: { id } } });

/** Creates a volume and deletes it at the end. A server without volumes must say so. */
async function withVolume(
  bench: Bench,
  use: (volume: { readonly id: string }) => Promise<void>,
): Promise<void> {
  const { data, error } = await bench.controlPlane.POST("/v1/volumes", { body: { name, size_mb: 16 } });
  if (data === undefined) {
    expect(["NOT_FOUND", "VOLUMES_UNAVAILABLE"]).toContain((error as { code?: string }).code);
    return;
  }
  try {
    await use(data);
  } finally {
    await remove(bench, data.id);
  }
}
