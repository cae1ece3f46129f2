import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { originForm, type Problem, upgradeResponse } from "@cloud-sandbox/server-kit";
import { agentTarget, envelopeAt } from "../agents/agent-target.js";
import { previewTarget } from "../gateway/preview-gateway.js";
import { refuse } from "../gateway/refusal.js";
import type { Forwarder } from "./forwarder.js";

/** A request that has come in at the proxy, until it is answered; or a connection that speaks another protocol now. */
export interface ProxiedCall {
  /** Whether it is for a sandbox, or for a program without one. Otherwise it reads or changes records. */
  readonly runsCode: boolean;
  /** Whether a part of the answer was sent. */
  readonly hasBegun: boolean;
  readonly isOver: boolean;
  onceOver(listener: () => void): void;
  answerBy(own: Server): void;
  /** Has the server at that address answer. False if that cannot be connected to: then nothing was sent. */
  passTo(address: string): Promise<boolean>;
  /** Answers with an error. If the answer has begun, the connection is cut. */
  refuse(problem: Problem): void;
  /** Ends the connection after the answer, so that the caller's next request finds another server. */
  endConnection(): void;
  cut(): void;
}

export function requestCall(
  request: IncomingMessage,
  response: ServerResponse,
  forwarder: Forwarder,
): ProxiedCall {
  return {
    runsCode: runsCode(request),
    get hasBegun() {
      return response.headersSent;
    },
    get isOver() {
      return response.closed || response.destroyed;
    },
    onceOver: (listener) => response.once("close", listener),
    answerBy: (own) => own.emit("request", request, response),
    passTo: (address) => forwarder.request(address, request, response),
    refuse: (problem) => refuse(request, response, problem, { envelope: envelopeAt(request.url ?? "") }),
    endConnection: () => {
      response.shouldKeepAlive = false;
    },
    cut: () => response.destroy(),
  };
}

export function upgradeCall(
  request: IncomingMessage,
  connection: Socket,
  head: Buffer,
  forwarder: Forwarder,
): ProxiedCall {
  let hasBegun = false;
  return {
    runsCode: runsCode(request),
    get hasBegun() {
      return hasBegun;
    },
    get isOver() {
      return connection.destroyed;
    },
    onceOver: (listener) => connection.once("close", listener),
    answerBy: (own) => {
      hasBegun = true;
      own.emit("upgrade", request, connection, head);
    },
    passTo: async (address) => {
      hasBegun = await forwarder.upgrade(address, request, connection, head);
      return hasBegun;
    },
    refuse: (problem) => {
      if (hasBegun) connection.destroy();
      else refuse(request, upgradeResponse(request, connection, head), problem);
    },
    endConnection: () => undefined,
    cut: () => connection.destroy(),
  };
}

const runsCode = (request: IncomingMessage): boolean =>
  (previewTarget(request) ?? agentTarget(request)) !== undefined ||
  /^\/v1\/executions(?![^/?])/.test(originForm(request));
