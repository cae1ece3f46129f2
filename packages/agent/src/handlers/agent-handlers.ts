import type { Handlers } from "@cloud-sandbox/server-kit";
import type { AgentContract } from "@cloud-sandbox/server-kit/agent-contract";

/**
 * A part of the agent's operations. The authentication result is just `true`: every caller with a valid token is the
 * sandbox's owner.
 */
export type AgentHandlers = Handlers<AgentContract, true>;

export const now = () => new Date().toISOString();
