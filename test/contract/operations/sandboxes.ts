import { expect } from "vitest";
import { fetching } from "../suite-programs.js";
import { type Bench, type Proof, proof, success } from "./proof.js";

export const sandboxProofs: Readonly<Record<string, Proof>> = {
  getHealth: proof("says without a key that the control plane works", async ({ backend }) => {
    const answer = await backend.fetch(`${backend.url}/health`);
    expect(await answer.json()).toMatchObject({ status: "healthy" });
  }),

  listSandboxes: proof("lists a sandbox under its state only", async ({ controlPlane, sandbox }) => {
    const ids = async (status: "running" | "paused") => {
      const query = { status, limit: -1 };
      const { data } = await success(controlPlane.GET("/v1/sandboxes", { params: { query } }));
      return data?.map(({ id }) => id);
    };
    expect(await ids("running")).toContain(sandbox.id);
    expect(await ids("paused")).not.toContain(sandbox.id);
  }),

  createSandbox: proof(
    "gives a token that the sandbox's agent takes at once",
    async ({ backend, controlPlane }) => {
      const body = { template_name: "base", timeout_seconds: 60 };
      const created = await success(controlPlane.POST("/v1/sandboxes", { body }));
      const answer = await backend.fetch(`${created.public_host}/env`, {
        headers: { authorization: `Bearer ${created.auth_token}` },
      });
      expect(answer.status).toBe(200);
      await controlPlane.DELETE("/v1/sandboxes/{id}", { params: { path: { id: created.id } } });
    },
  ),

  getSandbox: proof("shows it with the address of its agent", async ({ controlPlane, sandbox }) => {
    const params = { path: { id: sandbox.id } };
    const found = await success(controlPlane.GET("/v1/sandboxes/{id}", { params }));
    expect(found).toMatchObject({ id: sandbox.id, status: "running", object: "sandbox" });
    expect(found.public_host).toMatch(/^https?:/);
  }),

  updateSandbox: proof("changes what it names, and nothing else", (bench) =>
    bench.withSandbox(async ({ id }) => {
      const change = async (body: { metadata?: Record<string, string>; idle_timeout_seconds?: number }) =>
        success(bench.controlPlane.PATCH("/v1/sandboxes/{id}", { params: { path: { id } }, body }));
      expect(await change({ metadata: { a: "1" } })).toMatchObject({ id, metadata: { a: "1" } });
      const changed = await change({ idle_timeout_seconds: 60 });
      expect(changed).toMatchObject({ metadata: { a: "1" }, idle_timeout_seconds: 60, on_timeout: "delete" });
      expect(await change({ idle_timeout_seconds: 0 })).not.toHaveProperty("idle_timeout_seconds");
    }),
  ),

  deleteSandbox: proof("leaves nothing to be found", (bench) =>
    bench.withSandbox(async ({ id }) => {
      const params = { path: { id } };
      expect(await success(bench.controlPlane.DELETE("/v1/sandboxes/{id}", { params }))).toMatchObject({
        id,
      });
      expect((await bench.controlPlane.GET("/v1/sandboxes/{id}", { params })).response.status).toBe(404);
    }),
  ),

  pauseSandbox: proof("freezes it; its agent is not to be asked then", (bench) =>
    bench.withSandbox(async ({ id, agent }) => {
      expect(await change(bench, id, "pause")).toMatchObject({ id, status: "paused" });
      expect((await agent.GET("/env")).error).toMatchObject({ code: "SANDBOX_PAUSED" });
    }),
  ),

  resumeSandbox: proof("lets it go on where it was", (bench) =>
    bench.withSandbox(async ({ id, agent }) => {
      await success(agent.PATCH("/env", { body: { env_vars: { KEPT: "yes" } } }));
      await change(bench, id, "pause");
      expect(await change(bench, id, "resume")).toMatchObject({ id, status: "running" });
      expect((await success(agent.GET("/env"))).env_vars).toMatchObject({ KEPT: "yes" });
    }),
  ),

  stopSandbox: proof("ends its processes", (bench) =>
    bench.withSandbox(async ({ id, agent }) => {
      expect(await change(bench, id, "stop")).toMatchObject({ id, status: "stopped" });
      expect((await agent.GET("/env")).error).toMatchObject({ code: "SANDBOX_STOPPED" });
    }),
  ),

  startSandbox: proof("brings a stopped one back with its files", (bench) =>
    bench.withSandbox(async ({ id, agent }) => {
      await success(agent.POST("/files/write", { body: { path: "kept.txt", content: "kept" } }));
      await change(bench, id, "stop");
      expect(await change(bench, id, "start")).toMatchObject({ id, status: "running" });
      const params = { query: { path: "kept.txt" } };
      expect((await success(agent.GET("/files/read", { params }))).content).toBe("kept");
    }),
  ),

  setSandboxTimeout: proof("counts from now", (bench) =>
    bench.withSandbox(async ({ id }) => {
      const options = { params: { path: { id } }, body: { timeout_seconds: 1000 } };
      const moved = await success(bench.controlPlane.PUT("/v1/sandboxes/{id}/timeout", options));
      expect(moved).toMatchObject({ id, timeout_seconds: 1000 });
      const ahead = Date.parse(moved.expires_at ?? "") - Date.now();
      expect(ahead).toBeGreaterThan(980_000);
      expect(ahead).toBeLessThanOrEqual(1_000_000);
    }),
  ),

  refreshSandboxToken: proof("gives a token more, and takes none away", async (bench) => {
    const params = { path: { id: bench.sandbox.id } };
    const fresh = await success(bench.controlPlane.POST("/v1/sandboxes/{id}/token/refresh", { params }));
    const headers = { authorization: `Bearer ${fresh.auth_token}` };
    expect((await bench.request("GET", "/env", { headers })).status).toBe(200);
    expect((await bench.request("GET", "/env")).status).toBe(200);
    expect(Date.parse(fresh.token_expires_at)).toBeGreaterThan(Date.now() + 3_600_000);
  }),

  listSandboxEgress: proof("tells of a connection that was refused, and why", (bench) =>
    bench.withSandbox(
      async ({ id, agent }) => {
        const body = { command: "python3", args: ["-c", fetching] };
        const { stdout } = await success(agent.POST("/commands/run", { body }));
        expect(stdout).toContain("internet_access: true");
        const params = { path: { id }, query: { limit: 1 } };
        const log = await success(bench.controlPlane.GET("/v1/sandboxes/{id}/egress", { params }));
        expect(log.data).toMatchObject([
          { protocol: "http", host: "egress.example", port: 80, decision: "refused" },
        ]);
        expect(log.totals.refused).toBeGreaterThan(0);
      },
      { internetAccess: false },
    ),
  ),

  streamSandboxMetrics: proof("sends snapshots of the agent as events", async ({ backend, sandbox }) => {
    const abort = new AbortController();
    const answer = await backend.fetch(`${backend.url}/v1/sandboxes/${sandbox.id}/metrics/stream`, {
      headers: { "x-api-key": backend.apiKey },
      signal: abort.signal,
    });
    expect(answer.headers.get("content-type")).toMatch(/^text\/event-stream/);
    let text = "";
    for await (const chunk of answer.body ?? []) {
      text += new TextDecoder().decode(chunk as Uint8Array);
      if (text.includes("\n\n")) break;
    }
    abort.abort();
    const data = /^data: ?(.*)$/m.exec(text)?.[1] ?? "";
    expect(JSON.parse(data)).toMatchObject({ uptime_seconds: expect.any(Number) });
  }),
};

const change = (
  { controlPlane }: Bench,
  id: string,
  to: "pause" | "resume" | "start" | "stop",
): Promise<unknown> => success(controlPlane.POST(`/v1/sandboxes/{id}/${to}`, { params: { path: { id } } }));
