import { limits } from "@cloud-sandbox/protocol/limits";
import {
  type ControlPlaneContract,
  controlPlaneContract,
} from "@cloud-sandbox/server-kit/control-plane-contract";
import {
  authenticateAccount,
  deliveryHandlers,
  egressHandlers,
  eventHandlers,
  IdempotentCreates,
  type MemoryEvents,
  programHandlers,
  RepeatedPrograms,
  sandboxHandlers,
  snapshotHandlers,
  templateHandlers,
} from "@cloud-sandbox/server-kit/handlers";
import { contractService, controlPlaneEnvelope, type Handlers } from "@cloud-sandbox/server-kit/portable";
import { version } from "../../transport/version.js";
import type { Machine } from "../agent/machine.js";
import { metricsOf } from "../agent/report-handlers.js";
import type { MemoryExchange, MemoryService } from "../memory/memory-exchange.js";
import type { Reports } from "../memory/reports.js";
import type { TestingClock } from "../memory/testing-clock.js";
import { changeHandlers } from "./memory-changes.js";
import type { MemoryFleet, MemorySandbox } from "./memory-fleet.js";
import type { MemorySecrets } from "./memory-secrets.js";
import { runProgram } from "./one-shot-programs.js";
import type { TemplateBuilds } from "./template-builds.js";
import type { MemoryTemplate, TemplateCatalogue } from "./template-catalogue.js";
import type { TemplateUploads } from "./template-uploads.js";
import type { TokenRegistry } from "./token-registry.js";

const bodyLimit = 1024 * 1024;
const programLimit = limits.requestBytes;

interface ControlPlaneServiceOptions {
  readonly apiKey: string;
  readonly baseUrl: string;
  readonly clock: TestingClock;
  readonly fleet: MemoryFleet;
  readonly tokens: TokenRegistry;
  readonly templates: TemplateCatalogue;
  readonly builds: TemplateBuilds;
  readonly uploads: TemplateUploads;
  readonly reports: Reports;
  readonly events: MemoryEvents;
  readonly secrets: MemorySecrets;
}

/** Serves the control plane's API from memory. */
export function controlPlaneService(options: ControlPlaneServiceOptions): MemoryService {
  const { apiKey, baseUrl, builds, clock, fleet, reports, secrets, templates, tokens, uploads } = options;
  const creates = new IdempotentCreates<{ sandbox: MemorySandbox; isNew: boolean }>(
    ({ sandbox }) => fleet.has(sandbox.id),
    (request) => request,
  );
  const handlers: Handlers<ControlPlaneContract, true, MemoryExchange> = {
    getHealth: () => ({
      status: "healthy",
      version,
      runtime: "memory",
      idempotent_creates: true,
      executions: true,
      timestamp: clock.now().toISOString(),
    }),

    ...sandboxHandlers<MemorySandbox, MemoryExchange>({
      fleet,
      creates,
      tokens,
      metrics: (id, signal) => metricsEvents(fleet, id, signal),
      agentUrl: (id) => baseUrl + agentPrefix + id,
      previewUrls: () => ({}),
    }),

    ...programHandlers<MemoryExchange>({
      runProgram: (spec) => runProgram(fleet, spec),
      repeated: new RepeatedPrograms((request) => request),
      stream: (pieces) => pieces,
    }),

    ...templateHandlers<MemoryTemplate, MemoryExchange>({
      templates,
      builds,
      uploads,
      baseUrl: () => baseUrl,
      stream: (pieces) => pieces,
    }),

    ...deliveryHandlers(() => reports),

    ...eventHandlers<MemoryExchange>({
      events: options.events,
      keyId: undefined,
      requireSeen: () => undefined,
      metrics: async (id) => ({ ...(await metricsOf(fleet.reachable(id)).getMetrics()) }),
      stream: (pieces) => pieces,
    }),
    ...snapshotHandlers<MemoryExchange>({
      lack: undefined,
      list: () => fleet.snapshots.list(),
      get: (idOrName) => fleet.snapshots.get(idOrName),
      take: (id, request) => fleet.take(id, request),
      delete: async (idOrName) => fleet.snapshots.delete(idOrName),
    }),

    ...changeHandlers(fleet),

    ...secrets.handlers((id) => fleet.get(id)),

    ...egressHandlers((wanted) => {
      const { id, egressLog } = fleet.get(wanted);
      return { sandboxId: id, entries: egressLog.entries, totals: egressLog.totals };
    }),
  };

  return contractService<ControlPlaneContract, true, MemoryExchange>({
    contract: controlPlaneContract,
    handlers,
    envelope: controlPlaneEnvelope,
    authenticate: (call) => authenticateAccount(call, (key) => (key === apiKey ? true : undefined)),
    bodyLimit: ({ operationId }) => (operationId === "runProgram" ? programLimit : bodyLimit),
    keepsTexts: ({ operationId }) => operationId !== "runProgram",
  });
}

/** Path prefix below the control plane's URL at which agents are reached. */
export const agentPrefix = "/agent/";

/** Seconds between two events. */
const interval = 1;

/**
 * Server-sent events with a sandbox's metrics, one per second, until the sandbox is stopped or gone. None while it is
 * paused.
 */
function metricsEvents(fleet: MemoryFleet, id: string, signal: AbortSignal): AsyncGenerator<string> {
  return events(fleet, fleet.reachable(id), signal);
}

async function* events(fleet: MemoryFleet, machine: Machine, signal: AbortSignal): AsyncGenerator<string> {
  const ended = AbortSignal.any([signal, machine.gone]);
  const { getMetrics } = metricsOf(machine);
  while (!ended.aborted) {
    const isPaused = fleet.get(machine.sandboxId).status === "paused";
    yield isPaused ? ": paused\n\n" : `data: ${JSON.stringify(await getMetrics())}\n\n`;
    await machine.sleep(interval, ended).catch(() => undefined);
  }
}
