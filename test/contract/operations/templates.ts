import { expect } from "vitest";
import { type Bench, type Proof, proof, success } from "./proof.js";

/** The operations that make templates, or need one that was made. */
export const templateMaking = [
  "buildTemplate",
  "getTemplateBuildStatus",
  "getTemplateBuildLogs",
  "deleteTemplate",
];

export const templateProofs: Readonly<Record<string, Proof>> = {
  listTemplates: proof("lists the public templates", async ({ controlPlane }) => {
    const { data } = await success(controlPlane.GET("/v1/templates"));
    expect(data?.map(({ name }) => name)).toEqual(expect.arrayContaining(["base", "code-interpreter"]));
    // HOPX's CLI breaks longer ones within its JSON.
    for (const { description } of data ?? []) expect(description?.length).toBeLessThan(60);
  }),

  getTemplate: proof("finds one by name and by id", async ({ controlPlane }) => {
    const get = (name: string) =>
      success(controlPlane.GET("/v1/templates/{name}", { params: { path: { name } } }));
    const byName = await get("code-interpreter");
    expect(byName).toMatchObject({ name: "code-interpreter", status: "active", is_active: true });
    expect((await get(byName.id)).name).toBe("code-interpreter");
  }),

  importTemplate: proof(
    "refuses what is no image, or says that the server makes none",
    async ({ client }) => {
      const importing = client.templates.import(Buffer.from("This is no image."), { name: "no-image" });
      await expect(importing).rejects.toMatchObject({
        name: "ValidationError",
        message: expect.stringMatching(/is not a tar|makes no templates/),
      });
      expect(
        (await client.controlPlane.GET("/v1/templates/{name}", { params: { path: { name: "no-image" } } }))
          .response.status,
      ).toBe(404);
    },
  ),

  deleteTemplate: proof("refuses the public ones, and deletes one's own", async (bench) => {
    const remove = (templateID: string) =>
      bench.controlPlane.DELETE("/v1/templates/{name}", { params: { path: { name: templateID } } });
    const { data } = await success(bench.controlPlane.GET("/v1/templates"));
    const publicId = data?.find(({ name }) => name === "base")?.id ?? "";
    expect((await remove(publicId)).response.status).toBe(403);
    const { template_id: own } = await build(bench, "to-delete");
    await built(bench, own);
    expect((await remove(own)).response.status).toBe(200);
    expect((await remove(own)).response.status).toBe(404);
  }),

  buildTemplate: proof("makes a template that sandboxes start from", async (bench) => {
    const { template_id: id } = await build(bench, "to-start-from");
    await built(bench, id);
    const size = { from_image: "base", steps: [], cpu: 1, memory: 512, diskGB: 1 };
    const body = { ...size, name: "never-built", update: true };
    expect((await bench.controlPlane.POST("/v1/templates/build", { body })).response.status).toBe(404);
    const sandbox = await bench.client.sandboxes.create({ templateId: id, timeoutSeconds: 60 });
    expect((await sandbox.execute("cat /workspace/made", { language: "bash" })).stdout).toBe("made\n");
    await sandbox.delete();
    await remove(bench, id);
  }),

  getTemplateBuildStatus: proof("ends in success, or in failure with a reason", async (bench) => {
    const { build_id, template_id } = await build(bench, "to-watch");
    expect(await built(bench, build_id)).toMatchObject({ status: expect.stringMatching(/success|active/) });
    const bad = await build(bench, "to-fail", "exit 3");
    expect(await built(bench, bad.build_id)).toMatchObject({
      status: "failed",
      error_message: expect.stringMatching(/\w/),
    });
    await Promise.all([template_id, bad.template_id].map((id) => remove(bench, id)));
  }),

  getTemplateBuildLogs: proof("tells what the steps wrote, from an offset on", async (bench) => {
    const { template_id } = await build(bench, "to-read", "echo spoken");
    await built(bench, template_id);
    const read = async (offset: number) => {
      const params = { path: { buildID: template_id }, query: { offset } };
      const logs = await success(bench.controlPlane.GET("/v1/templates/build/{buildID}/logs", { params }));
      if (typeof logs === "string") throw new Error(`JSON was to be expected: ${logs}`);
      return logs;
    };
    const all = await read(0);
    expect(all).toMatchObject({ complete: true, logs: expect.stringContaining("spoken") });
    expect(await read(all.offset)).toMatchObject({ logs: "", offset: all.offset, complete: true });
    await remove(bench, template_id);
  }),

  createUploadLink: proof("asks for files that are not there yet", async ({ controlPlane }) => {
    const body = { files_hash: "0".repeat(64), content_length: 100 };
    const link = await success(controlPlane.POST("/v1/templates/files/upload-link", { body }));
    expect(link).toMatchObject({ present: false, upload_url: expect.stringMatching(/^https?:/) });
  }),

  uploadTemplateFiles: proof(
    "takes the files with the link, and without it nothing",
    async ({ backend, controlPlane }) => {
      const archive = Buffer.from(
        "H4sIAAAAAAAAA+3BMQEAAADCoPVPbQhfoAAAAAAAAAAAAAAAAAAAAIC3AYbSVKsAQAAA",
        "base64",
      );
      const body = { files_hash: "b".repeat(64), content_length: archive.length };
      const { upload_url = "" } = await success(
        controlPlane.POST("/v1/templates/files/upload-link", { body }),
      );
      const headers = { "content-type": "application/gzip" };
      const sent = await backend.fetch(upload_url ?? "", { method: "PUT", headers, body: archive });
      expect(sent.status).toBe(200);
      const unasked = (upload_url ?? "").replace(/grant=[^&]*/, "grant=guessed");
      expect((await backend.fetch(unasked, { method: "PUT", headers, body: archive })).status).toBe(401);
    },
  ),
};

const build = ({ controlPlane }: Bench, name: string, command = "echo made > /workspace/made") => {
  const steps = [{ type: "RUN" as const, args: [command] }];
  const body = { name, from_image: "base", steps, cpu: 1, memory: 512, diskGB: 1 };
  return success(controlPlane.POST("/v1/templates/build", { body }));
};

/** Waits for the end of a build. Resolves with its last status. */
async function built({ controlPlane }: Bench, buildID: string) {
  const status = () =>
    success(controlPlane.GET("/v1/templates/build/{buildID}/status", { params: { path: { buildID } } }));
  await expect.poll(async () => (await status()).status).toMatch(/^(success|active|failed)$/);
  return status();
}

const remove = ({ controlPlane }: Bench, templateID: string) =>
  controlPlane.DELETE("/v1/templates/{name}", { params: { path: { name: templateID } } });
