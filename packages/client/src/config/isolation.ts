import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";

/** From weakest to strongest: `namespace`, `container`, `gvisor`, `microvm`. */
export type Isolation = ControlPlaneSchemas["Isolation"];

/** From weakest to strongest. */
export const isolationLevels: readonly Isolation[] = ["namespace", "container", "gvisor", "microvm"];
