import type { AgentContract } from "../generated/agent-contract.js";
import type { Exchange } from "../server/exchange.js";
import type { Handlers } from "../server/handlers.js";

/** Some of an agent's operations, wherever it is served. */
export type AnyAgentHandlers = Handlers<AgentContract, unknown, Exchange>;

export const now = () => new Date().toISOString();
