import type { IncomingMessage } from "node:http";
import { agentEnvelope, controlPlaneEnvelope, type Envelope, originForm } from "@cloud-sandbox/server-kit";
import { bearerToken } from "@cloud-sandbox/server-kit/handlers";
import { subjectOf } from "../relay/forwarded-headers.js";

/** The sandbox whose agent a request is for, and the path of the request at that agent. */
export interface AgentTarget {
  readonly sandboxId: string;
  /** The path at the agent, with the query. */
  readonly path: string;
}

const prefix = "/agent/";

/** Path, below the control plane's URL, at which a sandbox's agent is reached. */
export function agentPath(sandboxId: string): string {
  return `${prefix}${sandboxId}`;
}

/** The error format at an address: agents use another envelope than the control plane. */
export const envelopeAt = (url: string): Envelope =>
  originForm({ url }).startsWith(prefix) ? agentEnvelope : controlPlaneEnvelope;

/**
 * The agent that a request is for: named by the path, or, for clients that only know a host, by the subject of the token.
 * Undefined when the request is for the control plane. The token is not verified here, because the agent verifies it.
 */
export function agentTarget(request: IncomingMessage): AgentTarget | undefined {
  const url = originForm(request);
  if (url.startsWith(prefix)) return byPath(url);
  if (!url.startsWith("/") || isControlPlanes(url)) return undefined;
  const sandboxId = subjectOf(bearerToken(request.headers.authorization));
  return sandboxId === undefined ? undefined : { sandboxId, path: url };
}

function byPath(url: string): AgentTarget {
  const rest = url.slice(prefix.length);
  const end = rest.search(/[/?]/);
  const sandboxId = end === -1 ? rest : rest.slice(0, end);
  const path = end === -1 ? "" : rest.slice(end);
  return { sandboxId, path: path.startsWith("/") ? path : `/${path}` };
}

const isControlPlanes = (url: string): boolean => /^\/(health|v1)(?![^/?])/.test(url);
