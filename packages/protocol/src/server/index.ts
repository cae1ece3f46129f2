export type { Contract, ContractTypes, Operation } from "../contract.js";
export { Call } from "./call.js";
export { readClientFrame } from "./client-frame.js";
export {
  type ContractRouter,
  type ContractRouterOptions,
  contractRouter,
  type RequestEvent,
  type UnauthenticatedCall,
} from "./contract-router.js";
export { agentEnvelope, controlPlaneEnvelope, type Envelope, type EnvelopeContext } from "./envelopes.js";
export type { Handler, Handlers } from "./handlers.js";
export { ignoreUpgrade } from "./ignored-upgrade.js";
export type { IncomingRequest } from "./incoming-request.js";
export { Problem, type ProblemOptions } from "./problem.js";
export { Reply } from "./reply.js";
export { requestId } from "./request-id.js";
export { splice } from "./splice.js";
export { answerUnreadableRequests } from "./unreadable-requests.js";
export { switchProtocols, upgradeResponse } from "./upgrade-response.js";
