import { test } from "vitest";
import { withoutGvisor } from "../support/docker/docker-server.js";
import { startGvisorBackend } from "./backends/docker-backend.js";
import { contractSuite } from "./contract-suite.js";
import { templateMaking } from "./operations/templates.js";
import { operationsSuite } from "./operations-suite.js";

const obstacle = withoutGvisor();
if (obstacle !== undefined) test("the contract on docker with gVisor", ({ skip }) => skip(obstacle));
else {
  contractSuite(startGvisorBackend, { builds: false });
  operationsSuite(startGvisorBackend, templateMaking);
}
