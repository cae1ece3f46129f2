import {
  type ControlPlaneContract,
  controlPlaneContract,
} from "@cloud-sandbox/protocol/control-plane-contract";
import {
  contractRouter,
  controlPlaneEnvelope,
  type Handlers,
  Problem,
  type UnauthenticatedCall,
} from "@cloud-sandbox/protocol/server";
import type { EgressGateway } from "../egress/egress-gateway.js";
import type { EgressEntry } from "../egress/egress-log.js";
import { bearerToken } from "../gateway/forwarded-headers.js";
import type { IsolationLevel } from "../runtime/sandbox-runtime.js";
import { type TemplateHandlersOptions, templateHandlers } from "../templates/template-handlers.js";
import type { AccountKey } from "./account-key.js";
import { pageOf } from "./page.js";
import type { RateLimiter } from "./rate-limiter.js";
import { type SandboxHandlerParts, sandboxHandlers } from "./sandbox-handlers.js";
import { egressEntryOnWire } from "./wire-forms.js";

const bodyLimitBytes = 1024 * 1024;

export interface ControlPlaneApiOptions extends SandboxHandlerParts, TemplateHandlersOptions {
  readonly egress: EgressGateway;
  readonly accountKey: AccountKey;
  readonly limiter: RateLimiter;
  readonly runtime: string;
  readonly isolation: IsolationLevel;
  readonly version: string;
  /** The operations on webhook deliveries. */
  readonly webhooks: Handlers<ControlPlaneContract, undefined>;
  readonly log: (message: string) => void;
}

/** Contract 1, as far as this machine can keep it. Everything inside a sandbox is the agent's. */
export function controlPlaneApi(options: ControlPlaneApiOptions) {
  return contractRouter<ControlPlaneContract, undefined>({
    contract: controlPlaneContract,
    handlers: handlers(options),
    envelope: controlPlaneEnvelope,
    admit: ({ headers }, responseHeaders) => {
      const key = headers["x-api-key"] ?? bearerToken(headers.authorization);
      options.limiter.admit(String(key), responseHeaders);
    },
    authenticate: (request) => authenticate(request, options.accountKey),
    bodyLimit: bodyLimitBytes,
    onError: (error, { requestId, operationId }) =>
      options.log(
        `${operationId} failed (${requestId}): ${error instanceof Error ? error.stack : String(error)}`,
      ),
  });
}

function authenticate(request: UnauthenticatedCall, accountKey: AccountKey): undefined {
  const key = request.header("x-api-key") ?? bearerToken(request.header("authorization"));
  if (key === "") {
    const message = "No API key was given. Send it as X-API-Key, or as Authorization: Bearer.";
    throw new Problem(401, "AUTHENTICATION_REQUIRED", message, { headers: { "www-authenticate": "Bearer" } });
  }
  if (!accountKey.matches(key)) {
    throw new Problem(
      401,
      "INVALID_API_KEY",
      "This API key is not the control plane's. Check CLOUD_SANDBOX_API_KEY.",
      {
        headers: { "www-authenticate": 'Bearer error="invalid_token"' },
      },
    );
  }
}

function handlers(options: ControlPlaneApiOptions): Handlers<ControlPlaneContract, undefined> {
  return {
    ...options.webhooks,
    getHealth: () => ({
      status: "healthy",
      version: options.version,
      runtime: options.runtime,
      isolation: options.isolation,
      timestamp: new Date().toISOString(),
    }),

    ...sandboxHandlers(options),

    listSandboxEgress: ({ params, query, requestId }) => {
      const { id } = options.fleet.get(params.id);
      const { entries, totals } = options.egress.log(id);
      const key = ({ sequence }: EgressEntry): string => String(sequence).padStart(16, "0");
      const { items, nextCursor } = pageOf(entries, key, { limit: query.limit, cursor: query.cursor });
      return {
        object: "list",
        data: items.map(egressEntryOnWire),
        has_more: nextCursor !== undefined,
        ...(nextCursor !== undefined && { next_cursor: nextCursor }),
        totals: {
          allowed: totals.allowed,
          refused: totals.refused,
          failed: totals.failed,
          dropped: totals.dropped,
          bytes_sent: totals.bytesSent,
          bytes_received: totals.bytesReceived,
        },
        url: `/v1/sandboxes/${id}/egress`,
        request_id: requestId,
      };
    },

    ...templateHandlers(options),
  };
}
