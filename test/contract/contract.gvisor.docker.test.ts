import { test } from "vitest";
import { withoutGvisor } from "../support/docker/docker-server.js";
import { startGvisorBackend } from "./backends/docker-backend.js";
import { contractSuite } from "./contract-suite.js";

const obstacle = withoutGvisor();
if (obstacle !== undefined) test("the contract on docker with gVisor", ({ skip }) => skip(obstacle));
// The server and the agent, which answer the single operations, are the same as with Docker alone.
else contractSuite(startGvisorBackend, { builds: false, startsFast: false });
