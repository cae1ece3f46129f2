import type { Handlers } from "@cloud-sandbox/server-kit";
import type { AgentContract } from "@cloud-sandbox/server-kit/agent-contract";

/** Some of the agent's operations. A caller that was let in is the sandbox's owner; there is no more to know. */
export type AgentHandlers = Handlers<AgentContract, true>;

export const now = () => new Date().toISOString();
