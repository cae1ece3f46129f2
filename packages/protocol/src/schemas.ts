import type { components as Agent } from "./generated/agent.js";
import type { components as ControlPlane } from "./generated/control-plane.js";

/** The control plane's schemas by name: `ControlPlaneSchemas["Sandbox"]`. */
export type ControlPlaneSchemas = ControlPlane["schemas"];

/** The agent's schemas by name: `AgentSchemas["ExecuteRequest"]`. */
export type AgentSchemas = Agent["schemas"];
