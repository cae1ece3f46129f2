import { expect } from "vitest";
import { type Bench, type Proof, proof, success } from "./proof.js";

const name = "of-the-contract-suite";

export const keyProofs: Readonly<Record<string, Proof>> = {
  createApiKey: proof("makes a key that is told once, or says that the server has none", async (bench) => {
    await withKey(bench, async ({ id, key }) => {
      expect(key).toMatch(/^csk_/);
      const again = await bench.controlPlane.POST("/v1/keys", { body: { name } });
      expect(again).toMatchObject({ error: { code: "CONFLICT" } });
      const { data } = await success(bench.controlPlane.GET("/v1/keys"));
      expect(data.find((each) => each.id === id)).not.toHaveProperty("key");
    });
  }),

  listApiKeys: proof("tells what each key uses, or says that the server has none", async (bench) => {
    await withKey(bench, async ({ id }) => {
      const { data } = await success(bench.controlPlane.GET("/v1/keys"));
      expect(data.find((key) => key.id === id)).toMatchObject({ name, status: "active", sandboxes: 0 });
    });
  }),

  getServerMetrics: proof("gives measurements as text, or says that the server has none", async (bench) => {
    const { data, error } = await bench.controlPlane.GET("/metrics", { parseAs: "text" });
    if (error) expect(error).toMatchObject({ code: "NOT_FOUND" });
    else expect(data).toContain("cloud_sandbox_sandboxes");
  }),

  revokeApiKey: proof("ends a key by its id or name, or says that the server has none", async (bench) => {
    await withKey(bench, async ({ id }) => {
      expect(await revoke(bench, name)).toMatchObject({ data: { id, status: "revoked" } });
      expect(await revoke(bench, "no-such-key")).toMatchObject({ error: { code: "API_KEY_NOT_FOUND" } });
      const { data } = await success(bench.controlPlane.GET("/v1/keys"));
      expect(data.find((key) => key.id === id)).toBeUndefined();
    });
  }),
};

const revoke = ({ controlPlane }: Bench, id: string) =>
  controlPlane.DELETE("/v1/keys/{id}", { params: { path: { id } } });

/** Creates a key and revokes it at the end. A server without keys must say so. */
async function withKey(
  bench: Bench,
  use: (key: { readonly id: string; readonly key: string }) => Promise<void>,
): Promise<void> {
  const { data, error } = await bench.controlPlane.POST("/v1/keys", { body: { name } });
  if (data === undefined) {
    expect(error).toMatchObject({ code: "NOT_FOUND" });
    return;
  }
  try {
    await use(data);
  } finally {
    await revoke(bench, data.id);
  }
}
