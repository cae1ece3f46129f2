import type { AgentContract } from "../../generated/agent-contract.js";
import type { Exchange } from "../../http/exchange.js";
import type { Handlers } from "../../router/handlers.js";

/** A part of an agent's operations, independent of the server they run on. */
export type AnyAgentHandlers = Handlers<AgentContract, unknown, Exchange>;

export const now = () => new Date().toISOString();
