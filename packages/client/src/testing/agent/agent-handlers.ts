import type { AgentContract } from "@cloud-sandbox/server-kit/agent-contract";
import type { Handlers } from "@cloud-sandbox/server-kit/portable";
import type { MemoryExchange } from "../memory/memory-exchange.js";

/** Some of the operations of an agent in memory. */
export type AgentHandlers = Handlers<AgentContract, true, MemoryExchange>;
