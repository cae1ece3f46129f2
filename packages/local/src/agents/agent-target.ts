import type { IncomingMessage } from "node:http";
import { agentEnvelope, controlPlaneEnvelope, type Envelope, originForm } from "@cloud-sandbox/server-kit";
import { bearerToken } from "@cloud-sandbox/server-kit/handlers";
import { subjectOf } from "../relay/forwarded-headers.js";

/** What a request asks of which sandbox's agent. */
export interface AgentTarget {
  readonly sandboxId: string;
  /** With the query. */
  readonly path: string;
}

const prefix = "/agent/";

/** Path, below the control plane's URL, at which a sandbox's agent is reached. */
export function agentPath(sandboxId: string): string {
  return `${prefix}${sandboxId}`;
}

/** How errors are worded at an address: the agents have words of their own. */
export const envelopeAt = (url: string): Envelope =>
  originForm({ url }).startsWith(prefix) ? agentEnvelope : controlPlaneEnvelope;

/**
 * The agent that a request is for: by path, or, for clients that know a host only, by whom its token says it is for.
 * Undefined where it is for the control plane. Whether the token is true is for the agent to find out.
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
