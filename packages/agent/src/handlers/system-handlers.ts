import { arch, cpus, hostname, networkInterfaces, platform, release } from "node:os";
import type { ListenAddress, SandboxLimits } from "../agent-config.js";
import type { Contexts } from "../execution/contexts/contexts.js";
import type { ExecutionSlots } from "../execution/execution-slots.js";
import { languages } from "../execution/languages.js";
import type { ResourceUsage } from "../machine/resource-usage.js";
import { readSystemFile } from "../machine/system-file.js";
import { ptyInterpreter } from "../streaming/pseudo-terminal.js";
import type { WebSocketGate } from "../streaming/websocket-gate.js";
import { agentName, agentVersion } from "../version.js";
import { type AgentHandlers, now } from "./agent-handlers.js";
import type { LanguageSupport } from "./program-requests.js";

export interface SystemParts extends LanguageSupport {
  readonly slots: ExecutionSlots;
  readonly contexts: Contexts;
  readonly sandboxId: string;
  readonly template: string;
  readonly limits: SandboxLimits;
  readonly listen: ListenAddress;
  readonly usage: ResourceUsage;
  readonly gate: WebSocketGate;
  /** Operations served here, with method and path, by their id. */
  readonly served: Readonly<Record<string, string>>;
}

/** What may be asked without a token. */
export function systemHandlers(parts: SystemParts) {
  const { sandboxId, slots, contexts, programs, usage, gate, listen } = parts;
  const started = new Date();
  const goVersion = programs.goVersion();
  const uptime = () => (Date.now() - started.getTime()) / 1000;

  async function offered(): Promise<string[]> {
    const there = await Promise.all(languages.map(({ interpreter }) => programs.has(interpreter)));
    return languages
      .filter((language, index) => there[index] && parts.offers(language))
      .map(({ name }) => name);
  }

  async function features() {
    const has = (operationId: string) => operationId in parts.served;
    return {
      code_execution: has("executeCode"),
      file_operations: has("readFile"),
      terminal_access: await programs.has(ptyInterpreter),
      websocket_streaming: has("streamExecution"),
      rich_output: has("executeRich"),
      background_jobs: has("executeBackground"),
      ipython_kernel: has("executeIpython") && contexts.hasIpython,
      system_metrics: has("getMetrics"),
      desktop: false,
      languages: await offered(),
    };
  }

  return {
    getBanner: () => ({
      agent: agentName,
      status: "running",
      version: agentVersion,
      vm_id: sandboxId,
      message: "This is a sandbox's agent. GET /info lists what it serves.",
      timestamp: now(),
    }),

    ping: () => ({ status: "ok", message: "pong", timestamp: now() }),

    getAgentHealth: async () => ({
      status: "healthy",
      agent: agentName,
      version: agentVersion,
      uptime: inWords(uptime()),
      go_version: await goVersion,
      vm_id: sandboxId,
      features: await features(),
      active_streams: gate.active,
      active_executions: slots.active,
    }),

    async getInfo() {
      const { host, port } = "host" in listen ? listen : { host: "", port: "" };
      const { memoryMb, diskMb, maxProcesses } = parts.limits;
      return {
        vm_id: sandboxId,
        agent: agentName,
        version: agentVersion,
        agent_version: agentVersion,
        platform: `${platform()}/${arch()}`,
        os: platform(),
        arch: arch(),
        ip: host,
        port: String(port),
        vm_ip: host,
        vm_port: String(port),
        start_time: started.toISOString(),
        uptime: uptime(),
        go_version: await goVersion,
        endpoints: parts.served,
        features: await features(),
        template: parts.template,
        limits: {
          ...(memoryMb !== undefined && { memory_mb: memoryMb }),
          ...(diskMb !== undefined && { disk_mb: diskMb }),
          ...(maxProcesses !== undefined && { max_processes: maxProcesses }),
        },
      };
    },

    async getSystem() {
      const [{ cpuPercent, cpus: cores, memory, disk, processes }, release_] = await Promise.all([
        usage.read(),
        osRelease(),
      ]);
      const capabilities = await offered();
      return {
        os: {
          name: release_.NAME ?? platform(),
          version: release_.VERSION_ID ?? "",
          kernel: release(),
          arch: arch(),
          hostname: hostname(),
          timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
        },
        hardware: {
          cpu_cores: Math.ceil(cores),
          cpu_model: cpus()[0]?.model ?? "",
          memory_mb: Math.round(memory.total),
          disk_mb: Math.round(disk.total),
        },
        network: { hostname: hostname(), interfaces: interfaces() },
        environment: { template: parts.template, agent: `${agentName} ${agentVersion}` },
        capabilities,
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
  } satisfies AgentHandlers;
}

/** The distribution's own description, `NAME="value"` line by line. */
async function osRelease(): Promise<Partial<Record<string, string>>> {
  const file = (await readSystemFile("/etc/os-release")) || (await readSystemFile("/usr/lib/os-release"));
  return Object.fromEntries(
    [...file.matchAll(/^([A-Z_]+)="?([^"\n]*)"?$/gm)].map(([, name, value]) => [name, value]),
  );
}

const interfaces = () =>
  Object.entries(networkInterfaces()).flatMap(([name, addresses = []]) =>
    addresses.map(({ address, family }) => ({ name, address, family })),
  );

/** Like `2h34m12s`. */
function inWords(seconds: number): string {
  const whole = Math.floor(seconds);
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor((whole % 3600) / 60);
  return `${hours > 0 ? `${hours}h` : ""}${whole >= 60 ? `${minutes}m` : ""}${whole % 60}s`;
}
