// @module-tag no-sandboxes
import { test } from "vitest";
import { cloudSettings, startCloudBackend } from "./backends/cloud-backend.js";
import { contractSuite } from "./contract-suite.js";
import { operationsSuite } from "./operations-suite.js";

if (cloudSettings()) {
  contractSuite(startCloudBackend, { forwards: false, tells: false });
  operationsSuite(startCloudBackend);
} else {
  test("the contract suite against a cloud", ({ skip }) => skip("CLOUD_SANDBOX_API_KEY is not set"));
}
