/** Reports of the agent about itself and its machine, converted from wire names to this client's names. */
import type { AgentSchemas } from "@cloud-sandbox/protocol";
import { date } from "../transport/answer-fields.js";

/** Health of the agent (GET /health). */
export interface AgentHealth {
  healthy: boolean;
  status: string;
  version: string | undefined;
  /** Languages whose interpreter is installed; undefined if the agent does not say. */
  languages: string[] | undefined;
  /** Number of programs running now. */
  activeExecutions: number | undefined;
  /** Name of the agent. */
  agent: string | undefined;
  /** Time since the agent started, as readable text such as `2h34m12s`. */
  uptime: string | undefined;
  /** Features of the agent, under their wire names. */
  features: AgentFeatures | undefined;
}

/** Features of an agent, under their wire names. */
export type AgentFeatures = AgentSchemas["AgentFeatures"];

/** Facts about the agent and its sandbox (GET /info). */
export interface AgentInfo {
  /** Id of the sandbox, as its agent knows it. */
  vmId: string | undefined;
  /** Name of the agent. */
  agent: string | undefined;
  version: string | undefined;
  /** Operating system and architecture, such as `linux/x64`. */
  platform: string | undefined;
  template: string | undefined;
  startedAt: Date | undefined;
  /** Time since the agent started: seconds, or readable text, depending on the server. */
  uptime: number | string | undefined;
  /** Features of the agent, under their wire names. */
  features: AgentFeatures | undefined;
  languages: string[] | undefined;
  /** Limits of the sandbox; undefined if there is no such limit, or the agent does not say. */
  limits: { memoryMb: number | undefined; diskMb: number | undefined; maxProcesses: number | undefined };
}

/** Counters of the agent, and resource use of its machine (GET /metrics/snapshot). */
export interface SandboxMetrics {
  /** Seconds since the agent started. */
  uptimeSeconds: number | undefined;
  totalExecutions: number | undefined;
  activeExecutions: number | undefined;
  /** Number of executions that failed. */
  errorCount: number | undefined;
  totalRequests: number | undefined;
  /** CPU use, 0 to 100, of all cores that the sandbox may use. */
  cpuPercent: number | undefined;
  memory: ResourceUse;
  disk: ResourceUse;
  processCount: number | undefined;
}

/** Use of a resource. */
export interface ResourceUse {
  /** Used share, 0 to 100. */
  percent: number | undefined;
  /** Used amount in MiB. */
  usedMb: number | undefined;
  /** Total amount in MiB, used and free together. */
  totalMb: number | undefined;
}

/** A process in the sandbox (GET /processes). */
export interface SandboxProcess {
  pid: number;
  parentPid: number | undefined;
  name: string | undefined;
  /** State of the process: `running`, `sleeping`, `zombie`, … */
  status: string | undefined;
  command: string | undefined;
  user: string | undefined;
  /** CPU use in percent of one core, averaged over the process's lifetime. */
  cpuPercent: number | undefined;
  memoryMb: number | undefined;
}

export function agentHealth(wire: AgentSchemas["AgentHealth"]): AgentHealth {
  return {
    healthy: wire.status === "healthy" || wire.status === "ok",
    status: wire.status,
    version: wire.version,
    languages: wire.features?.languages,
    activeExecutions: wire.active_executions,
    agent: wire.agent,
    uptime: wire.uptime,
    features: wire.features,
  };
}

export function agentInfo(wire: AgentSchemas["AgentInfo"]): AgentInfo {
  const { limits } = wire;
  return {
    vmId: wire.vm_id,
    agent: wire.agent,
    version: wire.agent_version ?? wire.version,
    platform: wire.platform ?? (wire.os && wire.arch && `${wire.os}/${wire.arch}`),
    template: wire.template,
    startedAt: date(wire.start_time),
    uptime: wire.uptime,
    features: wire.features,
    languages: wire.features?.languages,
    limits: {
      memoryMb: limits?.memory_mb,
      diskMb: limits?.disk_mb,
      maxProcesses: limits?.max_processes,
    },
  };
}

export function sandboxMetrics(wire: AgentSchemas["MetricsSnapshot"]): SandboxMetrics {
  const { system } = wire;
  return {
    uptimeSeconds: wire.uptime_seconds,
    totalExecutions: wire.total_executions,
    activeExecutions: wire.active_executions,
    errorCount: wire.error_count,
    totalRequests: wire.total_requests,
    cpuPercent: system?.cpu?.usage_percent,
    memory: resourceUse(system?.memory),
    disk: resourceUse(system?.disk),
    processCount: wire.process?.count,
  };
}

export function sandboxProcess(wire: AgentSchemas["SystemProcess"]): SandboxProcess {
  return {
    pid: wire.pid,
    parentPid: wire.ppid,
    name: wire.name,
    status: wire.status,
    command: wire.command,
    user: wire.user,
    cpuPercent: wire.cpu_percent,
    memoryMb: wire.memory_mb,
  };
}

type WireUse = NonNullable<NonNullable<AgentSchemas["MetricsSnapshot"]["system"]>["memory"]>;

function resourceUse(wire: WireUse | undefined): ResourceUse {
  return { percent: wire?.usage_percent, usedMb: wire?.used_mb, totalMb: wire?.total_mb };
}

/** Use of the execution cache (GET /cache/stats). */
export interface CacheStatistics {
  /** Number of cached results. */
  size: number | undefined;
  /** The most results that the cache holds. */
  maxSize: number | undefined;
  hits: number | undefined;
  misses: number | undefined;
  /** Share of lookups that hit, 0 to 1. */
  hitRate: number | undefined;
  /** Seconds that a result is kept. */
  ttl: number | undefined;
}

export function cacheStatistics(wire: AgentSchemas["CacheStats"]): CacheStatistics {
  return {
    size: wire.size,
    maxSize: wire.max_size,
    hits: wire.hits ?? wire.total_hits,
    misses: wire.misses,
    hitRate: wire.hit_rate,
    ttl: wire.ttl,
  };
}
