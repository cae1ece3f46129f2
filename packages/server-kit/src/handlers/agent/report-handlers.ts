import type { AgentSchemas } from "@cloud-sandbox/protocol";
import { type AnyAgentHandlers, now } from "./agent-handlers.js";
import type { Usage } from "./metrics-handlers.js";

/** Facts that each server of the agent's contract supplies to describe itself. */
export interface ReportParts {
  readonly agent: string;
  readonly version: string;
  /** A sentence for people who open the agent's address in a browser. */
  readonly banner: string;
  readonly sandboxId: string;
  readonly template: string;
  readonly startedAt: Date;
  /** Seconds since the start. */
  readonly uptime: () => number;
  /** Maps the ids of the operations this server has to their method and path. */
  readonly served: Readonly<Record<string, string>>;
  readonly active: () => { readonly streams: number; readonly executions: number };
  readonly languages: () => readonly string[] | Promise<readonly string[]>;
  readonly hasTerminal: () => boolean | Promise<boolean>;
  readonly hasIpython: () => boolean;
  /** Fields of `/health` and `/info` in addition to those that every server has. */
  readonly health: () => Partial<AgentSchemas["AgentHealth"]> | Promise<Partial<AgentSchemas["AgentHealth"]>>;
  readonly info: () => Platform | Promise<Platform>;
  readonly usage: { read(): Promise<Usage> };
  readonly system: () => SystemDescription | Promise<SystemDescription>;
}

type Info = AgentSchemas["AgentInfo"];
type Platform = Partial<Info> & Pick<Info, "platform" | "os" | "arch">;

type SystemInfo = AgentSchemas["SystemInfo"];
export interface SystemDescription {
  readonly os: NonNullable<SystemInfo["os"]>;
  readonly cpuModel: string;
  readonly network?: NonNullable<SystemInfo["network"]>;
}

/** The operations that describe an agent: banner, ping, health, info and system. They need no token. */
export function reportHandlers(parts: ReportParts) {
  const { agent, version, sandboxId, template, served, uptime } = parts;

  async function features() {
    const has = (operationId: string) => operationId in served;
    return {
      code_execution: has("executeCode"),
      file_operations: has("readFile"),
      terminal_access: await parts.hasTerminal(),
      websocket_streaming: has("streamExecution"),
      rich_output: has("executeRich"),
      background_jobs: has("executeBackground"),
      ipython_kernel: has("executeIpython") && parts.hasIpython(),
      system_metrics: has("getMetrics"),
      desktop: has("takeScreenshot"),
      languages: [...(await parts.languages())],
    };
  }

  return {
    getBanner: () => ({
      agent,
      status: "running",
      version,
      vm_id: sandboxId,
      message: parts.banner,
      timestamp: now(),
    }),

    ping: () => ({ status: "ok", message: "pong", timestamp: now() }),

    async getAgentHealth() {
      const { streams, executions } = parts.active();
      return {
        ...(await parts.health()),
        status: "healthy",
        agent,
        version,
        uptime: inWords(uptime()),
        vm_id: sandboxId,
        features: await features(),
        active_streams: streams,
        active_executions: executions,
      };
    },

    async getInfo() {
      return {
        ...(await parts.info()),
        vm_id: sandboxId,
        agent,
        version,
        agent_version: version,
        start_time: parts.startedAt.toISOString(),
        uptime: uptime(),
        endpoints: served,
        features: await features(),
        template,
      };
    },

    async getSystem() {
      const [{ cpuPercent, cpus, memory, disk, processes }, { os, cpuModel, network }] = await Promise.all([
        parts.usage.read(),
        parts.system(),
      ]);
      return {
        os,
        hardware: {
          cpu_cores: Math.ceil(cpus),
          cpu_model: cpuModel,
          memory_mb: Math.round(memory.total),
          disk_mb: Math.round(disk.total),
        },
        ...(network !== undefined && { network }),
        environment: { template, agent: `${agent} ${version}` },
        capabilities: [...(await parts.languages())],
        cpu_percent: cpuPercent,
        memory_percent: memory.percent,
        disk_percent: disk.percent,
        memory_used_mb: memory.used,
        disk_used_mb: disk.used,
        process_count: processes,
        uptime_seconds: uptime(),
        timestamp: now(),
      };
    },
  } satisfies AnyAgentHandlers;
}

/** Formats a duration like `2h34m12s`. */
function inWords(seconds: number): string {
  const whole = Math.floor(seconds);
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor((whole % 3600) / 60);
  return `${hours > 0 ? `${hours}h` : ""}${whole >= 60 ? `${minutes}m` : ""}${whole % 60}s`;
}
