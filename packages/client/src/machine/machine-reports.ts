/** What the agent says about itself and its machine, in this client's names. */
import type { AgentSchemas } from "@cloud-sandbox/protocol";
import { date } from "../transport/answers/date.js";

/** Whether the agent works (GET /health). */
export interface AgentHealth {
  healthy: boolean;
  status: string;
  version: string | undefined;
  /** Languages whose interpreter is installed; undefined where the agent does not say. */
  languages: string[] | undefined;
  /** Programs running now. */
  activeExecutions: number | undefined;
  /** The agent's name. */
  agent: string | undefined;
  /** For how long it has run, for people, such as `2h34m12s`. */
  uptime: string | undefined;
  /** What the agent can do, under the wire's own names. */
  features: AgentFeatures | undefined;
}

/** What an agent can do, under the wire's own names. */
export type AgentFeatures = AgentSchemas["AgentFeatures"];

/** What the agent is and where it runs (GET /info). */
export interface AgentInfo {
  /** The sandbox's id, as its agent has it. */
  vmId: string | undefined;
  /** The agent's name. */
  agent: string | undefined;
  version: string | undefined;
  /** As `linux/x64`. */
  platform: string | undefined;
  template: string | undefined;
  startedAt: Date | undefined;
  /** For how long the agent has run: seconds, or text for people where the server has that. */
  uptime: number | string | undefined;
  /** What the agent can do, under the wire's own names. */
  features: AgentFeatures | undefined;
  languages: string[] | undefined;
  /** Undefined where there is no limit, or the agent does not say. */
  limits: { memoryMb: number | undefined; diskMb: number | undefined; maxProcesses: number | undefined };
}

/** Counters of the agent and the use of the machine (GET /metrics/snapshot). */
export interface SandboxMetrics {
  /** Seconds since its agent was started. */
  uptimeSeconds: number | undefined;
  totalExecutions: number | undefined;
  activeExecutions: number | undefined;
  /** Executions that failed. */
  errorCount: number | undefined;
  totalRequests: number | undefined;
  /** 0 to 100, of all cores it may use. */
  cpuPercent: number | undefined;
  memory: ResourceUse;
  disk: ResourceUse;
  processCount: number | undefined;
}

/** How much of a resource is used. */
export interface ResourceUse {
  /** 0 to 100. */
  percent: number | undefined;
  /** MiB. */
  usedMb: number | undefined;
  /** MiB. */
  totalMb: number | undefined;
}

/** A process in the sandbox (GET /processes). */
export interface SandboxProcess {
  pid: number;
  parentPid: number | undefined;
  name: string | undefined;
  /** `running`, `sleeping`, `zombie`, … */
  status: string | undefined;
  command: string | undefined;
  user: string | undefined;
  /** Of one core, averaged over the process's life. */
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

/** An interpreter that keeps its variables (GET /jupyter/sessions). */
export interface InterpreterSession {
  id: string | undefined;
  language: string | undefined;
  /** The context's name. */
  context: string | undefined;
  /** `idle`, `busy`, … */
  state: string | undefined;
  /** Executions that run or wait in it. */
  connections: number | undefined;
  lastActivity: Date | undefined;
}

export function interpreterSession(wire: AgentSchemas["JupyterSession"]): InterpreterSession {
  return {
    id: wire.kernel_id,
    language: wire.language,
    context: wire.context,
    state: wire.execution_state,
    connections: wire.connections,
    lastActivity: date(wire.last_activity),
  };
}

/** How the cache of executions is used (GET /cache/stats). */
export interface CacheStatistics {
  /** Outcomes held. */
  size: number | undefined;
  /** Outcomes it may hold. */
  maxSize: number | undefined;
  hits: number | undefined;
  misses: number | undefined;
  /** 0 to 1. */
  hitRate: number | undefined;
  /** Seconds that an outcome is kept. */
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
