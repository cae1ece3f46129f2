/** The parts of a contract server that do not need Node.js. */

export { type Exchange, Reply, requestId, type ServedRequest } from "./http/exchange.js";
export { agentEnvelope, controlPlaneEnvelope, type Envelope, Problem } from "./http/problem.js";
export { readClientFrame } from "./router/client-frame.js";
export type { Operation } from "./router/contract.js";
export {
  type ContractService,
  contractService,
  type UnauthenticatedCall,
} from "./router/contract-service.js";
export type { Handlers } from "./router/handlers.js";
export { pageOf } from "./router/page.js";
