import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import { contractRouter, controlPlaneEnvelope, type Handlers } from "@cloud-sandbox/server-kit";
import {
  type ControlPlaneContract,
  controlPlaneContract,
} from "@cloud-sandbox/server-kit/control-plane-contract";
import {
  authenticateAccount,
  bearerToken,
  egressHandlers,
  type ProgramHandlerParts,
  programHandlers,
  type SandboxHandlerParts,
  sandboxHandlers,
  type TemplateHandlersOptions,
  templateHandlers,
} from "@cloud-sandbox/server-kit/handlers";
import type { LocalTemplate } from "../catalogue/template-catalogue.js";
import type { EgressGateway } from "../egress/egress-gateway.js";
import type { IsolationLevel } from "../runtime/sandbox-runtime.js";
import type { SandboxRecord } from "../sandboxes/sandbox-record.js";
import type { AccountKey } from "../tokens/account-key.js";
import type { RateLimiter } from "./rate-limiter.js";

const bodyLimitBytes = 1024 * 1024;
/** The longest body of a request to run a program: as long as an agent accepts. */
const programLimitBytes = 32 * 1024 * 1024;

export interface ControlPlaneApiOptions
  extends SandboxHandlerParts<SandboxRecord>,
    TemplateHandlersOptions<LocalTemplate>,
    ProgramHandlerParts {
  readonly egress: EgressGateway;
  /** Whether a program with this id runs now without a sandbox. */
  readonly runsProgram: (id: string) => boolean;
  readonly accountKey: AccountKey;
  readonly limiter: RateLimiter;
  readonly runtime: string;
  readonly isolation: IsolationLevel;
  readonly version: string;
  /** Whether the data directory is full, so that changes cannot be saved. */
  readonly isStorageFull: () => boolean;
  /** The operations on webhook deliveries. */
  readonly webhooks: Handlers<ControlPlaneContract, undefined>;
  readonly log: (message: string) => void;
}

/**
 * Serves the control plane's HTTP API (`openapi/control-plane.yaml`). Operations inside a sandbox are served by the
 * sandbox's agent.
 */
export function controlPlaneApi(options: ControlPlaneApiOptions) {
  return contractRouter<ControlPlaneContract, undefined>({
    contract: controlPlaneContract,
    handlers: handlers(options),
    envelope: controlPlaneEnvelope,
    admit: ({ headers }, responseHeaders) => {
      const key = headers["x-api-key"] ?? bearerToken(headers.authorization);
      options.limiter.admit(String(key), responseHeaders);
    },
    authenticate: (call) => authenticateAccount(call, (key) => options.accountKey.matches(key)),
    bodyLimit: ({ operationId }) => (operationId === "runProgram" ? programLimitBytes : bodyLimitBytes),
    // runProgram stores no text: the code goes only to its interpreter.
    keepsTexts: ({ operationId }) => operationId !== "runProgram",
    onError: (error, { requestId, operationId }) =>
      options.log(
        `${operationId} failed (${requestId}): ${error instanceof Error ? error.stack : String(error)}`,
      ),
  });
}

function storageHealth(
  isFull: boolean,
): Pick<ControlPlaneSchemas["Health"], "status" | "storage" | "message"> {
  if (!isFull) return { status: "healthy", storage: "ok" };
  const message =
    "The data directory is full or cannot be written to. Sandboxes keep running and can be deleted, but changes cannot be saved. Free some disk space there.";
  return { status: "degraded", storage: "full", message };
}

function handlers(options: ControlPlaneApiOptions): Handlers<ControlPlaneContract, undefined> {
  return {
    ...options.webhooks,
    getHealth: () => ({
      ...storageHealth(options.isStorageFull()),
      version: options.version,
      runtime: options.runtime,
      isolation: options.isolation,
      idempotent_creates: true,
      executions: true,
      timestamp: new Date().toISOString(),
    }),

    ...sandboxHandlers(options),

    ...programHandlers(options),

    ...egressHandlers((wanted) => {
      const id = options.runsProgram(wanted) ? wanted : options.fleet.get(wanted).id;
      const { entries, totals } = options.egress.log(id);
      return { sandboxId: id, entries, totals };
    }),

    ...templateHandlers(options),
  };
}
