import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";

/** Isolation levels, from weakest to strongest: `namespace`, `container`, `gvisor`, `microvm`. */
export type Isolation = ControlPlaneSchemas["Isolation"];

/** All isolation levels, from weakest to strongest. */
export const isolationLevels: readonly Isolation[] = ["namespace", "container", "gvisor", "microvm"];
