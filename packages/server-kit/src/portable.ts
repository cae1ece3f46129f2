/** The parts of a contract server that do not need Node.js. */
export type { Operation } from "./contract/contract.js";
export { agentEnvelope, controlPlaneEnvelope, type Envelope } from "./http/envelopes.js";
export type { Exchange, ServedRequest } from "./http/exchange.js";
export { Problem } from "./http/problem.js";
export { Reply } from "./http/reply.js";
export { requestId } from "./http/request-id.js";
export { readClientFrame } from "./router/client-frame.js";
export {
  type ContractService,
  contractService,
  type UnauthenticatedCall,
} from "./router/contract-service.js";
export type { Handlers } from "./router/handlers.js";
export { pageOf } from "./router/page.js";
