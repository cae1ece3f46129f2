export {
  type AgentErrorCode,
  agentErrorCodes,
  type ControlPlaneErrorCode,
  controlPlaneErrorCodes,
  type ErrorCode,
} from "./error-codes.js";
export type {
  components as AgentComponents,
  operations as AgentOperations,
  paths as AgentPaths,
} from "./generated/agent.js";
export type {
  components as ControlPlaneComponents,
  operations as ControlPlaneOperations,
  paths as ControlPlanePaths,
} from "./generated/control-plane.js";
export type { OfferedLanguage, OfferedSystem } from "./image-answer.js";
export { maskedValue } from "./masked-value.js";
export { portTunnel } from "./port-tunnel.js";
export type { AgentSchemas, ControlPlaneSchemas } from "./schemas.js";
export { timeLimit } from "./time-limit.js";
export { type TokenClaims, tokenClaims } from "./token-claims.js";
export { controlPlaneScope, tokenIssuer } from "./token-issuer.js";
export { type WebhookPayload, webhookHeaders, webhookPayload } from "./webhook-payload.js";
export {
  type ExecuteStreamFrame,
  executeStreamFrame,
  type TerminalFrame,
  terminalFrame,
  type WatchFrame,
  watchFrame,
} from "./websocket-frames.js";
