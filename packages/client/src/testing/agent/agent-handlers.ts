import type { AgentContract } from "@cloud-sandbox/server-kit/agent-contract";
import type { Handlers } from "@cloud-sandbox/server-kit/portable";
import type { MemoryExchange } from "../memory/memory-exchange.js";

/** Handlers for some of the agent's operations, in memory. */
export type AgentHandlers = Handlers<AgentContract, true, MemoryExchange>;
