import type { AgentSchemas } from "@cloud-sandbox/protocol";
import type { AgentAccess } from "../agent/agent-access.js";
import { type CallOptions, callInit } from "../config/options.js";
import { bodyOf, readBody } from "../transport/contract-clients.js";
import {
  type AgentHealth,
  type AgentInfo,
  agentHealth,
  agentInfo,
  type CacheStatistics,
  cacheStatistics,
  type SandboxProcess,
  sandboxProcess,
} from "./machine-reports.js";

/** Information about a sandbox's agent, machine and processes. */
export class System {
  readonly #access: AgentAccess;

  /** @internal */
  static of(access: AgentAccess): System {
    return new System(access);
  }

  private constructor(access: AgentAccess) {
    this.#access = access;
  }

  /** Health of the agent (GET /health). */
  async health(options?: CallOptions): Promise<AgentHealth> {
    return agentHealth(await bodyOf(this.#access.client.GET("/health", callInit(options)), "status"));
  }

  /** Facts about the agent and its sandbox (GET /info). */
  async info(options?: CallOptions): Promise<AgentInfo> {
    return agentInfo(await bodyOf(this.#access.client.GET("/info", callInit(options))));
  }

  /** Operating system, hardware and network of the machine, under their wire names (GET /system). */
  async machine(options?: CallOptions): Promise<AgentSchemas["SystemInfo"]> {
    return bodyOf(this.#access.client.GET("/system", callInit(options)));
  }

  /** All processes in the sandbox (GET /processes). */
  async processes(options?: CallOptions): Promise<SandboxProcess[]> {
    const pending = this.#access.client.GET("/processes", callInit(options));
    return readBody(pending, ({ processes }) => processes.map(sandboxProcess), "processes");
  }

  /** Use of the execution cache (GET /cache/stats). */
  async cacheStatistics(options?: CallOptions): Promise<CacheStatistics> {
    const { cache } = await bodyOf(this.#access.client.GET("/cache/stats", callInit(options)));
    return cacheStatistics(cache ?? {});
  }

  /** Empties the execution cache (POST /cache/clear). Resolves with the number of results removed, if the server says. */
  async clearCache(options?: CallOptions): Promise<number | undefined> {
    return (await bodyOf(this.#access.client.POST("/cache/clear", callInit(options)))).entries_removed;
  }
}
