export { type DoctorReport, examineHost } from "./doctor.js";
export {
  type LocalControlPlane,
  type LocalControlPlaneOptions,
  startLocalControlPlane,
} from "./local-control-plane.js";
export { DataDirectoryError, PortUnavailableError, RuntimeUnavailableError } from "./local-errors.js";
export type { Enforcement, IsolationLevel, MachineLimits, RuntimeReport } from "./runtime/sandbox-runtime.js";
