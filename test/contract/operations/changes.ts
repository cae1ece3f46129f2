import type { Sandbox } from "cloud-sandbox";
import { expect } from "vitest";
import { type Bench, type Proof, proof, success } from "./proof.js";

export const changeProofs: Readonly<Record<string, Proof>> = {
  listChanges: proof("lists what code changed in a copy, or since the template", async (bench) => {
    await withCopy(bench, async ({ id }) => {
      const { data, since, compared } = await success(list(bench, id));
      expect({ data, since, compared }).toMatchObject({
        since: "/repo",
        compared: "content",
        data: [
          {
            ...{ path: "/repo/made", kind: "added", type: "file", size: 4 },
            digest: expect.stringMatching(/^[0-9a-f]{64}$/),
          },
        ],
      });
      const other = { params: { path: { id }, query: { since: "/other" } } };
      expect(await bench.controlPlane.GET("/v1/sandboxes/{id}/changes", other)).toMatchObject({
        error: { code: "INVALID_REQUEST" },
      });
    });
    await bench.withSandbox(async ({ id, files }) => {
      await files.write("/workspace/made", "new\n");
      expect(await success(list(bench, id))).toMatchObject({
        since: "template",
        compared: "times",
        data: [{ path: "/workspace/made", kind: "added", type: "file", size: 4 }],
      });
    });
  }),

  getDiff: proof("shows a change as a unified diff, or says that there is none", async (bench) => {
    const get = (id: string, path: string, since?: string) => {
      const query = { path, ...(since !== undefined && { since }) };
      return bench.controlPlane.GET("/v1/sandboxes/{id}/diff", { params: { path: { id }, query } });
    };
    await withCopy(bench, async ({ id }) => {
      expect(await success(get(id, "/repo/made"))).toMatchObject({
        diff: "--- /dev/null\n+++ b/made\n@@ -0,0 +1,1 @@\n+new\n",
      });
      expect(await get(id, "/repo/other")).toMatchObject({ error: { code: "FILE_NOT_FOUND" } });
      for (const [path, since] of [
        ["/repo/../made"],
        ["/repo/made", "template"],
        ["/tmp/made", "/repo"],
      ] as const)
        expect(await get(id, path, since)).toMatchObject({ error: { code: "INVALID_REQUEST" } });
    });
    await bench.withSandbox(async ({ id, files }) => {
      await files.write("/workspace/made", "new\n");
      expect(await success(get(id, "/workspace/made"))).toMatchObject({
        diff: "--- /dev/null\n+++ b/workspace/made\n@@ -0,0 +1,1 @@\n+new\n",
      });
      expect(await get(id, "/workspace/other", "template")).toMatchObject({
        error: { code: "FILE_NOT_FOUND" },
      });
    });
  }),

  applyChanges: proof("says for each path what would happen, or that there is no copy", async (bench) => {
    const apply = (id: string, paths: readonly string[]) =>
      bench.controlPlane.POST("/v1/sandboxes/{id}/apply", {
        params: { path: { id } },
        body: { paths: paths.map((path) => ({ path })), check: true },
      });
    await withCopy(bench, async ({ id }) => {
      const { data } = await success(apply(id, ["/repo/made", "/repo/other", "/etc/passwd"]));
      expect(data.map(({ path, status }) => [path, status])).toEqual([
        ["/etc/passwd", "refused"],
        ["/repo/made", "applied"],
        ["/repo/other", "refused"],
      ]);
      expect(await success(apply(id, []))).toMatchObject({ data: [] });
    });
    expect(await apply(bench.sandbox.id, ["/repo/made"])).toMatchObject(none);
  }),
};

/** A sandbox without a copy, or a server that makes none. */
const none = { error: { code: expect.stringMatching(/^(INVALID_REQUEST|NOT_FOUND)$/) } };

const list = ({ controlPlane }: Bench, id: string) =>
  controlPlane.GET("/v1/sandboxes/{id}/changes", { params: { path: { id } } });

/** A sandbox that has made a file in its copy, if the backend gives sandboxes copies. */
async function withCopy(bench: Bench, use: (sandbox: Sandbox) => Promise<void>): Promise<void> {
  const { copied } = bench.backend;
  if (copied === undefined) return;
  await bench.withSandbox(
    async (sandbox) => {
      await sandbox.commands.run("echo new > /repo/made");
      await use(sandbox);
    },
    { mounts: { "/repo": { host: copied, mode: "copy" } } },
  );
}
