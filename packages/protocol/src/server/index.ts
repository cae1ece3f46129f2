export type { Contract, ContractTypes, Operation } from "../contract.js";
export { Call } from "./call.js";
export {
  type ContractRouter,
  type ContractRouterOptions,
  contractRouter,
  type RequestEvent,
  type UnauthenticatedCall,
} from "./contract-router.js";
export { agentEnvelope, controlPlaneEnvelope, type Envelope, type EnvelopeContext } from "./envelopes.js";
export type { Handler, Handlers } from "./handlers.js";
export type { IncomingRequest } from "./incoming-request.js";
export { Problem, type ProblemOptions } from "./problem.js";
export { Reply } from "./reply.js";
export { answerUnreadableRequests } from "./unreadable-requests.js";
