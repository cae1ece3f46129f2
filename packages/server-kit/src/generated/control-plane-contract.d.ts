// Generated from openapi/control-plane.yaml by scripts/generate.mjs. Change the contract, then run "npm run generate".
import type { ControlPlaneOperations } from "@cloud-sandbox/protocol";
import type { Contract } from "../contract.js";

export interface ControlPlaneContract {
  operations: ControlPlaneOperations;
  defaults: {
    listSandboxes: { query: "limit" };
    listWebhookDeliveries: { query: "limit" };
    listSandboxEgress: { query: "limit" };
    getTemplateBuildLogs: { query: "offset" };
  };
  public: "getHealth" | "uploadTemplateFiles";
}

export declare const controlPlaneContract: Contract<ControlPlaneContract>;
