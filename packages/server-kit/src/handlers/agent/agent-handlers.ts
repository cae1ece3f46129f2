import type { AgentContract } from "../../generated/agent-contract.js";
import type { Exchange } from "../../http/exchange.js";
import type { Handlers } from "../../router/handlers.js";

/** Some of an agent's operations, wherever it is served. */
export type AnyAgentHandlers = Handlers<AgentContract, unknown, Exchange>;

export const now = () => new Date().toISOString();
