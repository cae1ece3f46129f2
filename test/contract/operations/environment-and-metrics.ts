import { expect } from "vitest";
import { type Proof, proof, success } from "./proof.js";

export const environmentProofs: Readonly<Record<string, Proof>> = {
  getEnvironment: proof("shows variables, and no value that looks secret", async ({ agent }) => {
    await success(agent.PATCH("/env", { body: { env_vars: { SHOWN: "yes", A_TOKEN: "s3cret" } } }));
    const { env_vars } = await success(agent.GET("/env"));
    expect(env_vars).toMatchObject({ SHOWN: "yes", A_TOKEN: "***MASKED***" });
  }),

  replaceEnvironment: proof("leaves nothing that is not given", async ({ agent }) => {
    const { env_vars } = await success(agent.PUT("/env", { body: { env_vars: { ONLY: "this" } } }));
    expect(env_vars).toEqual({ ONLY: "this" });
  }),

  mergeEnvironment: proof("keeps what is not given, and a value whose mask comes back", async ({ agent }) => {
    await success(agent.PUT("/env", { body: { env_vars: { A_TOKEN: "s3cret" } } }));
    await success(agent.PATCH("/env", { body: { env_vars: { A_TOKEN: "***MASKED***", MORE: "yes" } } }));
    const line = { body: { command: "echo $A_TOKEN $MORE" } };
    expect((await success(agent.POST("/commands/run", line))).stdout).toBe("s3cret yes\n");
  }),

  clearEnvironment: proof("removes them all", async ({ agent }) => {
    await success(agent.PUT("/env", { body: { env_vars: { GONE: "soon" } } }));
    expect((await success(agent.DELETE("/env"))).env_vars).toEqual({});
  }),

  deleteEnvironmentVariable: proof("removes one", async ({ agent }) => {
    await success(agent.PUT("/env", { body: { env_vars: { GONE: "soon", KEPT: "yes" } } }));
    const params = { path: { key: "GONE" } };
    expect((await success(agent.DELETE("/env/{key}", { params }))).env_vars).toEqual({ KEPT: "yes" });
  }),
};

export const metricsProofs: Readonly<Record<string, Proof>> = {
  getBanner: proof("names the agent and its sandbox", async ({ agent, sandbox }) => {
    expect(await success(agent.GET("/"))).toMatchObject({ status: "running", vm_id: sandbox.id });
  }),

  ping: proof("answers", async ({ agent }) => {
    expect(await success(agent.GET("/ping"))).toMatchObject({ status: "ok" });
  }),

  getAgentHealth: proof("is healthy, and says what it can do", async ({ agent }) => {
    const health = await success(agent.GET("/health"));
    expect(health).toMatchObject({ status: "healthy", features: { code_execution: true } });
  }),

  getInfo: proof("lists what is served, by operation", async ({ agent, sandbox }) => {
    const info = await success(agent.GET("/info"));
    expect(info).toMatchObject({ vm_id: sandbox.id, endpoints: { executeCode: "POST /execute" } });
  }),

  getSystem: proof("describes the sandbox's own machine and load", async ({ agent }) => {
    const system = await success(agent.GET("/system"));
    expect(system).toMatchObject({
      os: { kernel: expect.any(String) },
      hardware: { cpu_cores: expect.any(Number) },
      cpu_percent: expect.any(Number),
      memory_percent: expect.any(Number),
    });
  }),

  getMetrics: proof("counts executions", async ({ agent }) => {
    const total = async () => (await success(agent.GET("/metrics"))).total_executions ?? 0;
    const before = await total();
    await success(agent.POST("/execute", { body: { code: "true", language: "bash" } }));
    expect(await total()).toBeGreaterThan(before);
    const { requests_total } = await success(agent.GET("/metrics"));
    expect(requests_total).toMatchObject({
      "/execute": { success: expect.any(Number), error: expect.any(Number) },
    });
  }),

  getMetricsSnapshot: proof("measures processor, memory and disk", async ({ agent }) => {
    const { system } = await success(agent.GET("/metrics/snapshot"));
    expect(system).toMatchObject({
      cpu: { usage_percent: expect.any(Number) },
      memory: { used_mb: expect.any(Number), total_mb: expect.any(Number) },
      disk: { used_mb: expect.any(Number), total_mb: expect.any(Number) },
    });
  }),

  getPrometheusMetrics: proof("exposes the same as hopx_agent_ series", async ({ request }) => {
    const answer = await request("GET", "/metrics/prometheus");
    expect(answer.headers.get("content-type")).toMatch(/^text\/plain/);
    expect(await answer.text()).toMatch(/^hopx_agent_executions_total \d+$/m);
  }),

  getCacheStats: proof("tells how much is kept", async ({ agent }) => {
    expect((await success(agent.GET("/cache/stats"))).cache).toMatchObject({ size: expect.any(Number) });
  }),

  clearCache: proof("leaves nothing kept", async ({ agent }) => {
    await success(agent.POST("/cache/clear"));
    expect((await success(agent.GET("/cache/stats"))).cache).toMatchObject({ size: 0 });
  }),
};
