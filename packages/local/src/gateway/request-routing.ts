import type { EventEmitter } from "node:events";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { portTunnel } from "@cloud-sandbox/protocol";
import {
  ignoreUpgrade,
  internalProblem,
  type Problem,
  requestId,
  upgradeResponse,
} from "@cloud-sandbox/server-kit";
import { type AgentTarget, agentTarget, envelopeAt } from "../agents/agent-target.js";
import { bodyOf } from "../relay/exchange.js";
import type { AgentGateway } from "./agent-gateway.js";
import type { ConnectionBudget, RequestCallers } from "./connection-budget.js";
import type { OpenCalls } from "./open-calls.js";
import { type PreviewGateway, previewTarget } from "./preview-gateway.js";
import { refuse } from "./refusal.js";
import type { CrossOriginAccess, HostGuard, KeyGuard } from "./request-guards.js";
import type { SandboxLinks } from "./sandbox-links.js";

export interface Destinations {
  readonly hosts: HostGuard;
  /** Refuses tokens of API keys that may not be used any more. Default: no such keys. */
  readonly keys?: Pick<KeyGuard, "allows" | "refusal">;
  /** Default: nobody is known. */
  readonly callers?: Pick<RequestCallers, "of">;
  readonly connections: ConnectionBudget;
  /** Cuts calls whose API key may not be used any more. Default: no such keys. */
  readonly openCalls?: OpenCalls;
  /** CORS for the APIs. Servers in previews set their own CORS headers. */
  readonly crossOrigin: CrossOriginAccess;
  readonly agents: Pick<AgentGateway, "handle" | "handlePortTunnel" | "handleUpgrade">;
  /** Called when an agent has answered a request, or when a WebSocket or port tunnel to it was opened or refused. */
  readonly onAgentAnswer?: (answer: {
    readonly request: IncomingMessage;
    readonly target: AgentTarget;
    readonly status: number;
    readonly time: Date;
  }) => void;
  /** Handles asynchronous executions, whose results it delivers. */
  readonly webhooks?: {
    handles(request: IncomingMessage, target: AgentTarget): boolean;
    handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
  };
  readonly previews: Pick<PreviewGateway, "handle" | "handleUpgrade">;
  /** Answers links to files. Default: there are none. */
  readonly links?: Pick<SandboxLinks, "handles" | "handle">;
  readonly log: (message: string) => void;
  /** The control plane's API. Gets all requests that are for no preview and no agent. */
  readonly api: { handle(request: IncomingMessage, response: ServerResponse): Promise<void> };
}

/** Routes each request of the server to previews, agents, webhooks or the API, which all share one port. */
export function routeRequests(server: Server, destinations: Destinations): void {
  const { hosts, keys, crossOrigin, agents, webhooks, previews, api, onAgentAnswer } = destinations;
  const { callers, connections, links, openCalls, log } = destinations;
  /** Notes a request until `answered` emits "close". Returns the problem that refuses it. */
  const begin = (
    request: IncomingMessage,
    answered: EventEmitter,
    isForAgent: boolean,
  ): Problem | undefined => {
    const { socket } = request;
    const caller = callers?.of(request, isForAgent);
    const refusal = connections.begin(socket, answered, caller);
    const keyId = caller?.keyId;
    if (!refusal && keyId !== undefined)
      openCalls?.add({ socket, answered, isAllowed: () => keys?.allows(keyId) ?? true });
    return refusal;
  };
  server.on("connection", (socket) => connections.open(socket));
  /** Waits for an answer. Whatever goes wrong, the caller is told that it did, and the server goes on. */
  const settle = (request: IncomingMessage, response: ServerResponse, answering: Promise<void>): void => {
    answering.catch((error: unknown) => {
      log(`${request.method} ${(request.url ?? "").split("?")[0]} failed: ${traceOf(error)}`);
      refuse(request, response, internalProblem(requestId(undefined)), {
        envelope: envelopeAt(request.url ?? ""),
      });
    });
  };
  const answered = async (
    request: IncomingMessage,
    response: ServerResponse,
    target: AgentTarget | undefined,
    answering: Promise<void>,
  ): Promise<void> => {
    const time = new Date();
    await answering;
    if (target) onAgentAnswer?.({ request, target, status: response.statusCode, time });
  };
  server.on("request", (request, response) => {
    const refusal = hosts.refusal(request.headers.host);
    if (refusal) return refuse(request, response, refusal, { envelope: envelopeAt(request.url ?? "") });
    const preview = previewTarget(request);
    if (preview) {
      connections.begin(request.socket, response, undefined);
      return settle(request, response, previews.handle(request, response, preview));
    }
    if (crossOrigin.answers(request, response)) return;
    if (links?.handles(request)) {
      connections.begin(request.socket, response, undefined);
      return settle(request, response, links.handle(request, response));
    }
    const agent = agentTarget(request);
    const excess = begin(request, response, agent !== undefined);
    if (excess) return refuse(request, response, excess, { envelope: envelopeAt(request.url ?? "") });
    if (!agent) return settle(request, response, api.handle(request, response));
    const keyRefusal = keys?.refusal(request);
    if (keyRefusal) return refuse(request, response, keyRefusal);
    const answering = webhooks?.handles(request, agent)
      ? webhooks.handle(request, response)
      : agents.handle(request, response, agent);
    settle(request, response, answered(request, response, agent, answering));
  });
  server.on("upgrade", (request, connection, head) => {
    const preview = previewTarget(request);
    if (!isUpgrade(request)) {
      ignoreUpgrade(server, request, connection, head);
      return;
    }
    const response = upgradeResponse(request, connection, head);
    const refusal = hosts.refusal(request.headers.host);
    if (refusal) return refuse(request, response, refusal);
    const keyRefusal = preview ? undefined : (keys?.refusal(request) ?? begin(request, connection, true));
    if (keyRefusal) return refuse(request, response, keyRefusal);
    if (preview) {
      connections.begin(request.socket, connection, undefined);
      settle(request, response, previews.handleUpgrade(request, response, preview));
    } else {
      const target = agentTarget(request);
      const answering = isPortTunnel(request)
        ? agents.handlePortTunnel(request, response, target)
        : agents.handleUpgrade(request, response, target);
      settle(request, response, answered(request, response, target, answering));
    }
  });
}

const traceOf = (error: unknown): string => (error instanceof Error && error.stack) || String(error);

/** Whether a request asks for a tunnel to a port, which previews do not have. */
const isPortTunnel = (request: IncomingMessage): boolean =>
  protocolOf(request) === portTunnel.protocol && !previewTarget(request);

/** Whether a request asks for another protocol that this server has. Otherwise it is answered as if it had not asked. */
export function isUpgrade(request: IncomingMessage): boolean {
  // A WebSocket or tunnel request has no body. Node would leave a body unread on the connection.
  const isBare = request.method === "GET" && bodyOf(request) === undefined;
  return isBare && (protocolOf(request) === "websocket" || isPortTunnel(request));
}

const protocolOf = ({ headers }: IncomingMessage): string | undefined => headers.upgrade?.toLowerCase();
