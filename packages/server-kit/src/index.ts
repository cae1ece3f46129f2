export type { Contract, ContractTypes, Operation } from "./contract/contract.js";
export {
  agentEnvelope,
  controlPlaneEnvelope,
  type Envelope,
  type EnvelopeContext,
} from "./http/envelopes.js";
export { type IncomingRequest, originForm, targetOf } from "./http/exchange.js";
export { FrameFeed, jsonLines } from "./http/frame-feed.js";
export { ignoreUpgrade } from "./http/ignored-upgrade.js";
export { readJsonBody } from "./http/json-body.js";
export { internalProblem, Problem, type ProblemOptions } from "./http/problem.js";
export { Reply } from "./http/reply.js";
export { requestId } from "./http/request-id.js";
export { splice } from "./http/splice.js";
export { answerUnreadableRequests } from "./http/unreadable-requests.js";
export { switchProtocols, upgradeResponse } from "./http/upgrade-response.js";
export { Call } from "./router/call.js";
export { readClientFrame } from "./router/client-frame.js";
export { type ContractRouter, type ContractRouterOptions, contractRouter } from "./router/contract-router.js";
export type { RequestEvent, UnauthenticatedCall } from "./router/contract-service.js";
export type { Handler, Handlers } from "./router/handlers.js";
export { OperationRoutes } from "./router/operation-routes.js";
export { pageOf } from "./router/page.js";
