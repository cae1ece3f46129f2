import * as z from "zod";
import { InvalidArgumentsError } from "../errors/errors.js";
import { wireNames } from "../results/answer.js";
import { port, sandboxReference } from "./definition/input-fields.js";
import { destructive, readOnly, sandboxTool, type Tool } from "./definition/tool.js";

const inSandbox = z.object({ ...sandboxReference });

const getSystemMetrics = sandboxTool({
  name: "get_system_metrics",
  title: "Measure a sandbox",
  description: "Measures a sandbox's CPU, memory and disk use, and counts its executions.",
  toolset: "system",
  annotations: readOnly,
  input: inSandbox,
  output: z.looseObject({
    cpu_percent: z.number().optional(),
    memory_percent: z.number().optional(),
    disk_percent: z.number().optional(),
  }),
  handler: async ({ sandbox, signal }) => {
    const metrics = await sandbox.metrics.snapshot({ signal });
    const { memory, disk } = metrics;
    return {
      ...wireNames(metrics),
      cpu_percent: metrics.cpuPercent,
      memory_percent: memory.percent,
      disk_percent: disk.percent,
    };
  },
});

const getVmInfo = sandboxTool({
  name: "get_vm_info",
  title: "Describe a sandbox's machine",
  description: "Describes a sandbox's system, agent version, languages and limits.",
  toolset: "system",
  annotations: readOnly,
  input: inSandbox,
  output: z.looseObject({ vm_id: z.string().optional(), start_time: z.string().optional() }),
  handler: async ({ sandbox, signal }) => {
    const { startedAt: startTime, ...info } = await sandbox.system.info({ signal });
    return wireNames({ ...info, agentVersion: info.version, startTime });
  },
});

const pingVm = sandboxTool({
  name: "ping_vm",
  title: "Ping a sandbox",
  description: "Says whether a sandbox's agent answers.",
  toolset: "compatibility",
  annotations: readOnly,
  input: inSandbox,
  output: z.looseObject({ status: z.string() }),
  handler: async ({ sandbox, signal }) => {
    const { status, version, agent, uptime, features } = await sandbox.system.health({ signal });
    const facts = { agent_version: version, agent, uptime, features, sandbox_id: sandbox.id };
    return { status: status === "healthy" ? "ok" : status, ...facts };
  },
});

const getAgentUrl = sandboxTool({
  name: "get_agent_url",
  title: "Get the agent's URL",
  description: "Gets the URL of a sandbox's agent.",
  toolset: "compatibility",
  annotations: readOnly,
  input: inSandbox,
  output: z.looseObject({ agent_url: z.string(), sandbox_id: z.string() }),
  handler: async ({ client, sandbox: { id }, signal }) => {
    const { publicHost, status } = await client.sandboxes.get(id, { signal });
    if (publicHost !== undefined) return { agent_url: publicHost, sandbox_id: id };
    throw new InvalidArgumentsError(
      `Sandbox ${id} is ${status} and has no URL yet; get_sandbox shows when it runs.`,
    );
  },
});

const getPreviewUrl = sandboxTool({
  name: "get_preview_url",
  title: "Get a port's URL",
  description:
    "Gets the URL at which a browser reaches a server on a sandbox's port. Anyone who has the URL can open it.",
  toolset: "system",
  annotations: readOnly,
  input: inSandbox.extend({ port }),
  output: z.looseObject({ preview_url: z.string(), port: z.number(), sandbox_id: z.string() }),
  handler: async ({ sandbox, port }) => ({
    preview_url: sandbox.ports.previewUrl(port),
    port,
    sandbox_id: sandbox.id,
  }),
});

const cacheStats = sandboxTool({
  name: "cache_stats",
  title: "Show the execution cache",
  description: "Counts the entries, hits and misses of a sandbox's execution cache.",
  toolset: "compatibility",
  annotations: readOnly,
  input: inSandbox,
  output: z.looseObject({ sandbox_id: z.string(), total_cached: z.number().optional() }),
  handler: async ({ sandbox, signal }) => {
    const statistics = await sandbox.system.cacheStatistics({ signal });
    return { ...wireNames(statistics), total_cached: statistics.size, sandbox_id: sandbox.id };
  },
});

const cacheClear = sandboxTool({
  name: "cache_clear",
  title: "Clear the execution cache",
  description: "Empties a sandbox's execution cache.",
  toolset: "compatibility",
  annotations: destructive,
  input: inSandbox,
  output: z.looseObject({ status: z.string(), entries_removed: z.number().optional() }),
  handler: async ({ sandbox, signal }) => ({
    status: "success",
    success: true,
    entries_removed: await sandbox.system.clearCache({ signal }),
  }),
});

export const systemTools: readonly Tool[] = [getSystemMetrics, getVmInfo, getPreviewUrl];

/** Tools of HOPX's own server for which other tools do the same. */
export const olderSystemTools: readonly Tool[] = [pingVm, getAgentUrl, cacheStats, cacheClear];
