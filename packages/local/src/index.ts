export { type DoctorReport, examineHost } from "./doctor.js";
export type { EgressOptions } from "./egress/egress-options.js";
export {
  type LocalControlPlane,
  type LocalControlPlaneOptions,
  startLocalControlPlane,
} from "./local-control-plane.js";
export {
  DataDirectoryError,
  InvalidEgressError,
  InvalidOriginError,
  PortUnavailableError,
  RuntimeUnavailableError,
} from "./local-errors.js";
export type { Enforcement, IsolationLevel, MachineLimits, RuntimeReport } from "./runtime/sandbox-runtime.js";
