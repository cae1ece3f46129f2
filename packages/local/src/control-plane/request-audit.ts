import { IncomingMessage } from "node:http";
import { OperationRoutes, type RequestEvent } from "@cloud-sandbox/server-kit";
import { agentContract } from "@cloud-sandbox/server-kit/agent-contract";
import { bearerToken } from "@cloud-sandbox/server-kit/handlers";
import type { AgentTarget } from "../agents/agent-target.js";
import { type Caller, type KeyRing, owner } from "../tokens/key-ring.js";
import type { TokenOwners } from "../tokens/token-owners.js";
import { AuditLog } from "./audit-log.js";

const agentOperations = new OperationRoutes(agentContract.operations);

export interface AnsweredByAgent {
  readonly request: IncomingMessage;
  readonly target: AgentTarget;
  readonly status: number;
  /** When the request came. */
  readonly time: Date;
}

/** Notes requests in an audit log. */
export class RequestAudit {
  readonly #log: AuditLog;

  /** @throws AuditLogError when the file cannot be written to. */
  constructor(
    file: string,
    private readonly keys: Pick<KeyRing, "nameOf">,
    private readonly tokenOwners: Pick<TokenOwners, "of">,
    log: (message: string) => void,
  ) {
    this.#log = new AuditLog(file, log);
  }

  /** Notes an answered request to the control plane, unless it only read something or its key was not accepted. */
  readonly onRequest = (event: RequestEvent<Caller>): void => {
    const { auth, operation, method, params, status, durationMs, request } = event;
    if (!auth || !operation || isRead(method)) return;
    this.#log.note({
      ...origin(request),
      time: new Date(Date.now() - durationMs),
      key: auth.name,
      operation: operation.operationId,
      sandbox: operation.path.startsWith("/v1/sandboxes") ? (params.id ?? createdId(event)) : undefined,
      status,
    });
  };

  /** Notes a request that an agent has answered, unless it only read something or its token was not accepted. */
  readonly onAgentAnswer = ({ request, target, status, time }: AnsweredByAgent): void => {
    const { method = "GET" } = request;
    const operation = operationOf(method, target.path.split("?")[0] ?? "");
    if (operation === undefined) return;
    // Strangers cause no entry: with as many as they like, they would push out those of others.
    const tokenOwner = this.tokenOwners.of(bearerToken(request.headers.authorization));
    if (tokenOwner?.sandboxId !== target.sandboxId) return;
    this.#log.note({
      ...origin(request),
      time,
      key: tokenOwner.keyId === undefined ? owner.name : this.keys.nameOf(tokenOwner.keyId),
      operation,
      sandbox: target.sandboxId,
      status,
    });
  };

  close(): void {
    this.#log.close();
  }
}

/** The name of an operation of the agent, or of the gateway in its place. Undefined if it only reads. */
function operationOf(method: string, path: string): string | undefined {
  if (/^\/ports\/\d+\/tunnel$/.test(path)) return "openPortTunnel";
  const { operation } = agentOperations.find(method, path) ?? {};
  return isRead(method) && !operation?.upgrade ? undefined : operation?.operationId;
}

const isRead = (method: string): boolean => ["GET", "HEAD", "OPTIONS"].includes(method);

/** The id of the sandbox that a request created. */
function createdId({ reply, status }: RequestEvent<Caller>): string | undefined {
  if (status >= 300 || typeof reply.body !== "string") return undefined;
  const { id } = JSON.parse(reply.body) as { readonly id?: unknown };
  return typeof id === "string" ? id : undefined;
}

function origin(request: Pick<IncomingMessage, "headers">) {
  const forwarded = request.headers["x-forwarded-for"];
  return {
    from: request instanceof IncomingMessage ? request.socket.remoteAddress : undefined,
    forwardedFor: Array.isArray(forwarded) ? forwarded.join(", ") : forwarded,
  };
}
