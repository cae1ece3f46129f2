import { arch, cpus, hostname, networkInterfaces, platform, release } from "node:os";
import { reportHandlers, type SystemDescription } from "@cloud-sandbox/server-kit/handlers";
import type { ListenAddress, SandboxLimits } from "../config/agent-config.js";
import { agentName, agentVersion } from "../config/version.js";
import type { Contexts } from "../execution/contexts/contexts.js";
import type { ExecutionSlots } from "../execution/programs/execution-slots.js";
import { languages } from "../execution/programs/languages.js";
import type { ResourceUsage } from "../machine/resource-usage.js";
import { readSystemFile } from "../machine/system-file.js";
import { ptyInterpreter } from "../streaming/pseudo-terminal.js";
import type { WebSocketUpgrader } from "../streaming/websocket-upgrader.js";
import type { LanguageSupport } from "./program-requests.js";

export interface SystemParts extends LanguageSupport {
  readonly slots: ExecutionSlots;
  readonly contexts: Contexts;
  readonly sandboxId: string;
  readonly template: string;
  readonly limits: SandboxLimits;
  readonly listen: ListenAddress;
  readonly usage: ResourceUsage;
  readonly upgrader: WebSocketUpgrader;
  /** Maps the ids of the operations this agent serves to their method and path. */
  readonly served: Readonly<Record<string, string>>;
}

/** The operations that describe the agent and its machine. They need no token. */
export function systemHandlers(parts: SystemParts) {
  const { sandboxId, template, served, slots, contexts, programs, usage, upgrader } = parts;
  const startedAt = new Date();
  const goVersion = programs.goVersion();

  async function offered(): Promise<string[]> {
    const isInstalled = await Promise.all(languages.map(({ interpreter }) => programs.has(interpreter)));
    return languages
      .filter((language, index) => isInstalled[index] && parts.offers(language))
      .map(({ name }) => name);
  }

  return reportHandlers({
    agent: agentName,
    version: agentVersion,
    banner: "This is a sandbox's agent. GET /info lists what it serves.",
    sandboxId,
    template,
    startedAt,
    uptime: () => (Date.now() - startedAt.getTime()) / 1000,
    served,
    active: () => ({ streams: upgrader.active, executions: slots.active }),
    languages: offered,
    hasTerminal: () => programs.has(ptyInterpreter),
    hasIpython: () => contexts.hasIpython,
    health: async () => ({ go_version: await goVersion }),
    info: async () => ({ ...machineFields(parts), go_version: await goVersion }),
    usage,
    system: describeSystem,
  });
}

function machineFields({ listen, limits }: SystemParts) {
  const { host, port } = "host" in listen ? listen : { host: "", port: "" };
  const { memoryMb, diskMb, maxProcesses } = limits;
  return {
    platform: `${platform()}/${arch()}`,
    os: platform(),
    arch: arch(),
    ip: host,
    port: String(port),
    vm_ip: host,
    vm_port: String(port),
    limits: {
      ...(memoryMb !== undefined && { memory_mb: memoryMb }),
      ...(diskMb !== undefined && { disk_mb: diskMb }),
      ...(maxProcesses !== undefined && { max_processes: maxProcesses }),
    },
  };
}

async function describeSystem(): Promise<SystemDescription> {
  const distribution = await osRelease();
  return {
    os: {
      name: distribution.NAME ?? platform(),
      version: distribution.VERSION_ID ?? "",
      kernel: release(),
      arch: arch(),
      hostname: hostname(),
      timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    },
    cpuModel: cpus()[0]?.model ?? "",
    network: { hostname: hostname(), interfaces: interfaces() },
  };
}

/** Parses the distribution's os-release file, which has lines `NAME="value"`. Empty if there is no such file. */
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
