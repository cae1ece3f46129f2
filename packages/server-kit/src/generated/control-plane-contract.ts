// Generated from openapi/control-plane.yaml by scripts/generate.mjs. Change the contract, then run "npm run generate".
import type { ControlPlaneOperations } from "@cloud-sandbox/protocol";
import * as validators from "#validators/control-plane";
import type { Contract } from "../router/contract.js";

export interface ControlPlaneContract {
  operations: ControlPlaneOperations;
  defaults: {
    listSandboxes: { query: "limit" };
    createSandbox: { body: "files_only" | "on_timeout" | "idle_timeout_seconds" | "auto_start" };
    runProgram: { body: "language" | "timeout" | "capture_rich" | "stream" };
    importTemplate: { query: "update" };
    listWebhookDeliveries: { query: "limit" };
    listApiKeys: { query: "revoked" };
    createVolume: { body: "size_mb" };
    listSandboxEgress: { query: "limit" };
    createSandboxLink: { body: "expires_in_seconds" };
    forkSandbox: { body: "count" };
    getTemplateBuildLogs: { query: "offset" };
    setSecret: { body: "env" };
    setSandboxSecret: { body: "env" };
  };
  public: "getHealth" | "uploadTemplateFiles";
}

export const controlPlaneContract: Contract<ControlPlaneContract> = {
  name: "control-plane",
  operations: [
    { operationId: "getHealth", method: "GET", path: "/health", authenticated: false, status: 200 },
    { operationId: "getServerMetrics", method: "GET", path: "/metrics", authenticated: true, status: 200 },
    { operationId: "listSandboxes", method: "GET", path: "/v1/sandboxes", authenticated: true, status: 200, query: { validate: validators.listSandboxesQuery, types: { "limit": "integer", "status": "string", "region": "string", "name": "string", "metadata": "string", "cursor": "string" }, units: {} } },
    { operationId: "createSandbox", method: "POST", path: "/v1/sandboxes", authenticated: true, status: 201, body: { validate: validators.createSandboxBody, required: true, units: { "timeout_seconds": "seconds", "idle_timeout_seconds": "seconds" } } },
    { operationId: "runProgram", method: "POST", path: "/v1/executions", authenticated: true, status: 200, body: { validate: validators.runProgramBody, required: true, units: { "timeout": "seconds" } } },
    { operationId: "listTemplates", method: "GET", path: "/v1/templates", authenticated: true, status: 200, query: { validate: validators.listTemplatesQuery, types: { "category": "string", "language": "string", "limit": "integer", "fields": "string", "cursor": "string" }, units: {} } },
    { operationId: "buildTemplate", method: "POST", path: "/v1/templates/build", authenticated: true, status: 201, body: { validate: validators.buildTemplateBody, required: true, units: { "memory": "megabytes", "diskGB": "gigabytes" } } },
    { operationId: "importTemplate", method: "POST", path: "/v1/templates/import", authenticated: true, status: 201, query: { validate: validators.importTemplateQuery, types: { "name": "string", "update": "boolean" }, units: {} } },
    { operationId: "createUploadLink", method: "POST", path: "/v1/templates/files/upload-link", authenticated: true, status: 200, body: { validate: validators.createUploadLinkBody, required: true, units: { "content_length": "bytes" } } },
    { operationId: "listWebhookDeliveries", method: "GET", path: "/v1/webhook-deliveries", authenticated: true, status: 200, query: { validate: validators.listWebhookDeliveriesQuery, types: { "limit": "integer", "sandbox_id": "string", "status": "string", "cursor": "string" }, units: {} } },
    { operationId: "listApiKeys", method: "GET", path: "/v1/keys", authenticated: true, status: 200, query: { validate: validators.listApiKeysQuery, types: { "revoked": "boolean" }, units: {} } },
    { operationId: "createApiKey", method: "POST", path: "/v1/keys", authenticated: true, status: 201, body: { validate: validators.createApiKeyBody, required: true, units: {} } },
    { operationId: "listVolumes", method: "GET", path: "/v1/volumes", authenticated: true, status: 200 },
    { operationId: "createVolume", method: "POST", path: "/v1/volumes", authenticated: true, status: 201, body: { validate: validators.createVolumeBody, required: true, units: {} } },
    { operationId: "listSnapshots", method: "GET", path: "/v1/snapshots", authenticated: true, status: 200 },
    { operationId: "listSecrets", method: "GET", path: "/v1/secrets", authenticated: true, status: 200 },
    { operationId: "streamEvents", method: "GET", path: "/v1/events", authenticated: true, status: 200, query: { validate: validators.streamEventsQuery, types: { "since": "string", "sandbox_id": "string", "types": "string" }, units: {} } },
    { operationId: "listWebhooks", method: "GET", path: "/v1/webhooks", authenticated: true, status: 200 },
    { operationId: "createWebhook", method: "POST", path: "/v1/webhooks", authenticated: true, status: 201, body: { validate: validators.createWebhookBody, required: true, units: {} } },
    { operationId: "getSandbox", method: "GET", path: "/v1/sandboxes/{id}", authenticated: true, status: 200 },
    { operationId: "deleteSandbox", method: "DELETE", path: "/v1/sandboxes/{id}", authenticated: true, status: 200 },
    { operationId: "updateSandbox", method: "PATCH", path: "/v1/sandboxes/{id}", authenticated: true, status: 200, body: { validate: validators.updateSandboxBody, required: true, units: {} } },
    { operationId: "pauseSandbox", method: "POST", path: "/v1/sandboxes/{id}/pause", authenticated: true, status: 200 },
    { operationId: "resumeSandbox", method: "POST", path: "/v1/sandboxes/{id}/resume", authenticated: true, status: 200 },
    { operationId: "startSandbox", method: "POST", path: "/v1/sandboxes/{id}/start", authenticated: true, status: 200 },
    { operationId: "stopSandbox", method: "POST", path: "/v1/sandboxes/{id}/stop", authenticated: true, status: 200 },
    { operationId: "setSandboxTimeout", method: "PUT", path: "/v1/sandboxes/{id}/timeout", authenticated: true, status: 200, body: { validate: validators.setSandboxTimeoutBody, required: true, units: { "timeout_seconds": "seconds" } } },
    { operationId: "refreshSandboxToken", method: "POST", path: "/v1/sandboxes/{id}/token/refresh", authenticated: true, status: 200 },
    { operationId: "streamSandboxMetrics", method: "GET", path: "/v1/sandboxes/{id}/metrics/stream", authenticated: true, status: 200 },
    { operationId: "listSandboxEgress", method: "GET", path: "/v1/sandboxes/{id}/egress", authenticated: true, status: 200, query: { validate: validators.listSandboxEgressQuery, types: { "limit": "integer", "cursor": "string" }, units: {} } },
    { operationId: "setSandboxEgress", method: "PUT", path: "/v1/sandboxes/{id}/egress", authenticated: true, status: 200, body: { validate: validators.setSandboxEgressBody, required: true, units: {} } },
    { operationId: "decideSandboxEgress", method: "POST", path: "/v1/sandboxes/{id}/egress/decisions", authenticated: true, status: 200, body: { validate: validators.decideSandboxEgressBody, required: true, units: {} } },
    { operationId: "createSandboxLink", method: "POST", path: "/v1/sandboxes/{id}/links", authenticated: true, status: 201, body: { validate: validators.createSandboxLinkBody, required: true, units: {} } },
    { operationId: "revokeSandboxLinks", method: "DELETE", path: "/v1/sandboxes/{id}/links", authenticated: true, status: 200 },
    { operationId: "listSandboxSecrets", method: "GET", path: "/v1/sandboxes/{id}/secrets", authenticated: true, status: 200 },
    { operationId: "listChanges", method: "GET", path: "/v1/sandboxes/{id}/changes", authenticated: true, status: 200, query: { validate: validators.listChangesQuery, types: { "since": "string" }, units: {} } },
    { operationId: "getDiff", method: "GET", path: "/v1/sandboxes/{id}/diff", authenticated: true, status: 200, query: { validate: validators.getDiffQuery, types: { "path": "string", "since": "string" }, units: {} } },
    { operationId: "applyChanges", method: "POST", path: "/v1/sandboxes/{id}/apply", authenticated: true, status: 200, body: { validate: validators.applyChangesBody, required: true, units: {} } },
    { operationId: "createSnapshot", method: "POST", path: "/v1/sandboxes/{id}/snapshots", authenticated: true, status: 201, body: { validate: validators.createSnapshotBody, required: true, units: {} } },
    { operationId: "forkSandbox", method: "POST", path: "/v1/sandboxes/{id}/fork", authenticated: true, status: 200, body: { validate: validators.forkSandboxBody, required: true, units: { "timeout_seconds": "seconds" } } },
    { operationId: "restoreSandbox", method: "POST", path: "/v1/sandboxes/{id}/restore", authenticated: true, status: 200, body: { validate: validators.restoreSandboxBody, required: true, units: {} } },
    { operationId: "getTemplate", method: "GET", path: "/v1/templates/{name}", authenticated: true, status: 200 },
    { operationId: "deleteTemplate", method: "DELETE", path: "/v1/templates/{name}", authenticated: true, status: 200 },
    { operationId: "getTemplateBuildStatus", method: "GET", path: "/v1/templates/build/{buildID}/status", authenticated: true, status: 200 },
    { operationId: "getTemplateBuildLogs", method: "GET", path: "/v1/templates/build/{buildID}/logs", authenticated: true, status: 200, query: { validate: validators.getTemplateBuildLogsQuery, types: { "offset": "integer" }, units: {} } },
    { operationId: "uploadTemplateFiles", method: "PUT", path: "/v1/templates/files/{files_hash}", authenticated: false, status: 200, query: { validate: validators.uploadTemplateFilesQuery, types: { "grant": "string" }, units: {} } },
    { operationId: "getWebhookDelivery", method: "GET", path: "/v1/webhook-deliveries/{id}", authenticated: true, status: 200 },
    { operationId: "redeliverWebhook", method: "POST", path: "/v1/webhook-deliveries/{id}/redeliver", authenticated: true, status: 200 },
    { operationId: "revokeApiKey", method: "DELETE", path: "/v1/keys/{id}", authenticated: true, status: 200 },
    { operationId: "getVolume", method: "GET", path: "/v1/volumes/{id}", authenticated: true, status: 200 },
    { operationId: "deleteVolume", method: "DELETE", path: "/v1/volumes/{id}", authenticated: true, status: 200 },
    { operationId: "getSnapshot", method: "GET", path: "/v1/snapshots/{id}", authenticated: true, status: 200 },
    { operationId: "deleteSnapshot", method: "DELETE", path: "/v1/snapshots/{id}", authenticated: true, status: 200 },
    { operationId: "setSecret", method: "PUT", path: "/v1/secrets/{name}", authenticated: true, status: 200, body: { validate: validators.setSecretBody, required: true, units: {} } },
    { operationId: "deleteSecret", method: "DELETE", path: "/v1/secrets/{name}", authenticated: true, status: 200 },
    { operationId: "deleteWebhook", method: "DELETE", path: "/v1/webhooks/{id}", authenticated: true, status: 200 },
    { operationId: "setSandboxSecret", method: "PUT", path: "/v1/sandboxes/{id}/secrets/{name}", authenticated: true, status: 200, body: { validate: validators.setSandboxSecretBody, required: true, units: {} } },
    { operationId: "deleteSandboxSecret", method: "DELETE", path: "/v1/sandboxes/{id}/secrets/{name}", authenticated: true, status: 200 },
  ],
};
