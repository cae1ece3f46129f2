/** What of a contract's server needs no Node.js. */
export type { Operation } from "../contract.js";
export { readClientFrame } from "./client-frame.js";
export { type ContractService, contractService, type UnauthenticatedCall } from "./contract-service.js";
export { agentEnvelope, controlPlaneEnvelope, type Envelope } from "./envelopes.js";
export type { Exchange, ServedRequest } from "./exchange.js";
export type { Handlers } from "./handlers.js";
export { pageOf } from "./page.js";
export { Problem } from "./problem.js";
export { Reply } from "./reply.js";
