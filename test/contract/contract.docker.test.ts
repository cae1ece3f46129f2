import { test } from "vitest";
import { withoutDocker } from "../support/docker/docker-server.js";
import { startDockerBackend } from "./backends/docker-backend.js";
import { contractSuite } from "./contract-suite.js";
import { templateMaking } from "./operations/templates.js";
import { operationsSuite } from "./operations-suite.js";

const obstacle = withoutDocker();
if (obstacle !== undefined) test("the contract on docker", ({ skip }) => skip(obstacle));
else {
  contractSuite(startDockerBackend, { builds: false, startsFast: false });
  // Templates are not made with docker: test/docker shows how that is refused.
  operationsSuite(startDockerBackend, templateMaking);
}
