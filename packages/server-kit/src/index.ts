export {
  type IncomingRequest,
  originForm,
  Reply,
  readJsonBody,
  requestId,
  targetOf,
} from "./http/exchange.js";
export { FrameFeed, jsonLines } from "./http/frame-feed.js";
export {
  agentEnvelope,
  controlPlaneEnvelope,
  type Envelope,
  type EnvelopeContext,
  internalProblem,
  Problem,
  type ProblemOptions,
} from "./http/problem.js";
export { splice } from "./http/splice.js";
export { answerUnreadableRequests } from "./http/unreadable-requests.js";
export { ignoreUpgrade, switchProtocols, upgradeResponse } from "./http/upgrades.js";
export { readClientFrame } from "./router/client-frame.js";
export type { Contract, ContractTypes, Operation } from "./router/contract.js";
export { type ContractRouter, type ContractRouterOptions, contractRouter } from "./router/contract-router.js";
export { OperationRoutes, type RequestEvent, type UnauthenticatedCall } from "./router/contract-service.js";
export { Call, type Handler, type Handlers } from "./router/handlers.js";
export { pageOf } from "./router/page.js";
export { unlessAborted } from "./unless-aborted.js";
