import { expect } from "vitest";
import { type Proof, proof, success } from "./proof.js";

export const eventProofs: Readonly<Record<string, Proof>> = {
  streamEvents: proof("tells what happened, from the beginning", (bench) =>
    bench.withSandbox(async ({ id }) => {
      const query = { since: "0", sandbox_id: id };
      const init = { params: { query }, parseAs: "stream" as const };
      const body: unknown = await success(bench.controlPlane.GET("/v1/events", init));
      const reader = (body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      while (!text.includes("sandbox.created")) text += (await reader.read()).value ?? "";
      expect(text).toMatch(/^id: \S+\nevent: opened\n/);
      await reader.cancel();
    }),
  ),

  createWebhook: proof("sends events to a URL that may have them, or the server cannot", async (bench) => {
    const { error } = await bench.controlPlane.POST("/v1/webhooks", { body: { url: "ftp://a.test/" } });
    expect(["INVALID_REQUEST", "NOT_FOUND"]).toContain(codeOf(error));
  }),

  listWebhooks: proof("lists the webhooks, or the server has none", async (bench) => {
    const { data, error } = await bench.controlPlane.GET("/v1/webhooks");
    if (error) expect(codeOf(error)).toBe("NOT_FOUND");
    else expect(data?.data).toEqual([]);
  }),

  deleteWebhook: proof("says that there is no such webhook", async (bench) => {
    const { error } = await bench.controlPlane.DELETE("/v1/webhooks/{id}", {
      params: { path: { id: "none" } },
    });
    expect(["WEBHOOK_NOT_FOUND", "NOT_FOUND"]).toContain(codeOf(error));
  }),

  createSandboxLink: proof("makes a link to a file, or the server cannot", (bench) =>
    bench.withSandbox(async (sandbox) => {
      await sandbox.files.write("linked", "by a link");
      const params = { path: { id: sandbox.id } };
      const body = { kind: "download" as const, path: "linked", expires_in_seconds: 60 };
      const { data, error } = await bench.controlPlane.POST("/v1/sandboxes/{id}/links", { params, body });
      if (error) expect(codeOf(error)).toBe("NOT_FOUND");
      else expect(await (await fetch(data?.url ?? "")).text()).toBe("by a link");
    }),
  ),

  revokeSandboxLinks: proof("revokes the links of a sandbox, or the server cannot", (bench) =>
    bench.withSandbox(async ({ id }) => {
      const init = { params: { path: { id } } };
      const { data, error } = await bench.controlPlane.DELETE("/v1/sandboxes/{id}/links", init);
      if (error) expect(codeOf(error)).toBe("NOT_FOUND");
      else expect(data?.id).toBe(id);
    }),
  ),

  decideSandboxEgress: proof("says that no program waits, or the server cannot", (bench) =>
    bench.withSandbox(async ({ id }) => {
      const body = { host: "a.test", port: 443, decision: "allow" as const };
      const init = { params: { path: { id } }, body };
      const { error } = await bench.controlPlane.POST("/v1/sandboxes/{id}/egress/decisions", init);
      expect(["CONFLICT", "NOT_FOUND"]).toContain(codeOf(error));
    }),
  ),
};

const codeOf = (error: unknown): unknown => (error as { code?: string } | undefined)?.code;
