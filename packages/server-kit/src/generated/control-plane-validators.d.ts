// Generated from openapi/control-plane.yaml by scripts/generate.mjs. Change the contract, then run "npm run generate".
import type { Validate } from "../router/contract.js";

export declare const listSandboxesQuery: Validate;
export declare const createSandboxBody: Validate;
export declare const runProgramBody: Validate;
export declare const listTemplatesQuery: Validate;
export declare const buildTemplateBody: Validate;
export declare const importTemplateQuery: Validate;
export declare const createUploadLinkBody: Validate;
export declare const listWebhookDeliveriesQuery: Validate;
export declare const listApiKeysQuery: Validate;
export declare const createApiKeyBody: Validate;
export declare const createVolumeBody: Validate;
export declare const streamEventsQuery: Validate;
export declare const createWebhookBody: Validate;
export declare const updateSandboxBody: Validate;
export declare const setSandboxTimeoutBody: Validate;
export declare const listSandboxEgressQuery: Validate;
export declare const setSandboxEgressBody: Validate;
export declare const decideSandboxEgressBody: Validate;
export declare const createSandboxLinkBody: Validate;
export declare const listChangesQuery: Validate;
export declare const getDiffQuery: Validate;
export declare const applyChangesBody: Validate;
export declare const getTemplateBuildLogsQuery: Validate;
export declare const uploadTemplateFilesQuery: Validate;
export declare const setSecretBody: Validate;
export declare const setSandboxSecretBody: Validate;
