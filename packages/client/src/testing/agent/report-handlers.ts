import { metricsHandlers, now, type Usage } from "@cloud-sandbox/server-kit/handlers";
import { version } from "../../transport/version.js";
import type { AgentHandlers } from "./agent-handlers.js";
import { languageNames } from "./execution-handlers.js";
import type { Machine } from "./machine.js";

const agent = "cloud-sandbox-testing";
const mebibyte = 1024 * 1024;
const memoryMb = 2048;
const diskMb = 10_240;

/** What an agent tells about itself. `served` has the operations by their id, with method and path. */
export function reportHandlers(machine: Machine, served: Readonly<Record<string, string>>) {
  const { sandboxId, startedAt, template } = machine;
  const features = () => ({
    code_execution: true,
    file_operations: true,
    terminal_access: true,
    websocket_streaming: true,
    rich_output: true,
    background_jobs: true,
    ipython_kernel: false,
    system_metrics: true,
    desktop: false,
    languages: [...languageNames],
  });

  return {
    getBanner: () => ({
      agent,
      status: "running",
      version,
      vm_id: sandboxId,
      message: "This is the agent of a sandbox that exists in memory. GET /info lists what it serves.",
      timestamp: now(),
    }),

    ping: () => ({ status: "ok", message: "pong", timestamp: now() }),

    getAgentHealth: () => ({
      status: "healthy",
      agent,
      version,
      uptime: `${Math.floor(machine.uptime)}s`,
      vm_id: sandboxId,
      features: features(),
      active_streams: 0,
      active_executions: machine.counts.active,
    }),

    getInfo: () => ({
      vm_id: sandboxId,
      agent,
      version,
      agent_version: version,
      platform: "memory",
      os: "memory",
      arch: "memory",
      start_time: startedAt.toISOString(),
      uptime: machine.uptime,
      endpoints: served,
      features: features(),
      template,
    }),

    async getSystem() {
      const { cpuPercent, memory, disk, processes } = await usageOf(machine).read();
      return {
        os: { name: "memory", version, kernel: "none", arch: "memory", hostname: sandboxId, timezone: "UTC" },
        hardware: { cpu_cores: 1, cpu_model: "none", memory_mb: memory.total, disk_mb: disk.total },
        environment: { template, agent: `${agent} ${version}` },
        capabilities: [...languageNames],
        cpu_percent: cpuPercent,
        memory_percent: memory.percent,
        disk_percent: disk.percent,
        memory_used_mb: memory.used,
        disk_used_mb: disk.used,
        process_count: processes,
        uptime_seconds: machine.uptime,
        timestamp: now(),
      };
    },
  } satisfies AgentHandlers;
}

export const metricsOf = (machine: Machine) => {
  const { cache, counts: slots, requests } = machine;
  return metricsHandlers({ slots, cache, requests, usage: usageOf(machine) });
};

/** What a sandbox in memory uses: files take disk, and nothing else takes anything. */
function usageOf({ files, processes }: Machine) {
  return {
    async read(): Promise<Usage> {
      const used = files.totalBytes / mebibyte;
      return {
        cpuPercent: 0,
        cpus: 1,
        memory: { used: 0, total: memoryMb, percent: 0 },
        disk: { used, total: diskMb, percent: (used / diskMb) * 100 },
        processes: processes.list().length,
      };
    },
  };
}
