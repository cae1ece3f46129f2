import { limits } from "@cloud-sandbox/protocol/limits";
import { type AgentContract, agentContract } from "@cloud-sandbox/server-kit/agent-contract";
import {
  backgroundOperations,
  cacheHandlers,
  environmentHandlers,
  sessionHandlers,
  startedFields,
  unavailable,
} from "@cloud-sandbox/server-kit/handlers";
import { agentEnvelope, contractService, type UnauthenticatedCall } from "@cloud-sandbox/server-kit/portable";
import type { MemoryExchange, MemoryService } from "../memory/memory-exchange.js";
import type { Reports } from "../memory/reports.js";
import type { AgentHandlers } from "./agent-handlers.js";
import { desktopHandlers } from "./desktop-handlers.js";
import { executionHandlers, startInBackground } from "./execution-handlers.js";
import { fileHandlers } from "./file-handlers.js";
import type { Machine } from "./machine.js";
import { machineReportHandlers, metricsOf } from "./report-handlers.js";
import { streamHandlers } from "./stream-handlers.js";

const bodyLimit = limits.requestBytes;
/** The template whose sandboxes have a desktop. */
const desktopTemplate = "desktop";

export interface AgentServiceOptions {
  readonly machine: Machine;
  readonly reports: Reports;
  /** Throws a problem unless the caller has the sandbox's token. */
  readonly authenticate: (call: UnauthenticatedCall) => true;
}

/** Serves the agent's API for one machine. */
export function agentService({ machine, reports, authenticate }: AgentServiceOptions): MemoryService {
  const { cache, contexts, files, executions, requests, variables } = machine;
  const served: Record<string, string> = {};
  const handlers = {
    ...executionHandlers(machine),
    async executeAsync({ body }) {
      const { execution, program } = await startInBackground(machine, body);
      const { execution_id, process_id } = startedFields(execution);
      reports.expect(machine.sandboxId, execution, program.outcome, body);
      return {
        execution_id,
        process_id,
        status: "queued",
        callback_url: body.callback_url,
        message: `${process_id} was started; its end will be reported to callback_url.`,
        timestamp: machine.clock.now().toISOString(),
      };
    },
    ...backgroundOperations(executions),
    ...sessionHandlers(contexts),
    ...cacheHandlers(cache),
    ...environmentHandlers(variables, () => undefined),
    ...fileHandlers(files),
    ...metricsOf(machine),
    ...streamHandlers(machine),
    ...(machine.template === desktopTemplate && desktopHandlers(() => machine.clock.now())),
    ...machineReportHandlers(machine, served),
  } satisfies AgentHandlers;
  for (const { operationId, method, path } of agentContract.operations)
    if (operationId in handlers) served[operationId] = `${method} ${path}`;

  return contractService<AgentContract, true, MemoryExchange>({
    contract: agentContract,
    handlers,
    unavailable,
    envelope: agentEnvelope,
    bodyLimit,
    authenticate,
    onRequest: (event) => requests.record(event),
  });
}
