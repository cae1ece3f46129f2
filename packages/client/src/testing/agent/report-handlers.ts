import { metricsHandlers, reportHandlers, type Usage } from "@cloud-sandbox/server-kit/handlers";
import { version } from "../../transport/version.js";
import { languageNames } from "./execution-handlers.js";
import type { Machine } from "./machine.js";

const mebibyte = 1024 * 1024;
const memoryMb = 2048;
const diskMb = 10_240;

/** Handlers for reports about a machine. `served` maps operation ids to method and path. */
export function machineReportHandlers(machine: Machine, served: Readonly<Record<string, string>>) {
  const { sandboxId, startedAt, template } = machine;
  return reportHandlers({
    agent: "cloud-sandbox-testing",
    version,
    banner: "This is the agent of a sandbox that exists in memory. GET /info lists what it serves.",
    sandboxId,
    template,
    startedAt,
    uptime: () => machine.uptime,
    served,
    active: () => ({ streams: 0, executions: machine.counts.active }),
    languages: () => languageNames,
    hasTerminal: () => true,
    hasIpython: () => false,
    health: () => ({}),
    info: () => ({ platform: "memory", os: "memory", arch: "memory" }),
    usage: usageOf(machine),
    system: () => ({
      os: { name: "memory", version, kernel: "none", arch: "memory", hostname: sandboxId, timezone: "UTC" },
      cpuModel: "none",
    }),
  });
}

export const metricsOf = (machine: Machine) => {
  const { cache, counts: slots, requests } = machine;
  return metricsHandlers({ slots, cache, requests, usage: usageOf(machine) });
};

/** Resource use of a sandbox in memory: files use disk, and nothing else uses anything. */
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
