import { describe, test } from "vitest";
import { authorityStatements } from "../network/authority-statements.js";
import { startDockerServer, withoutDocker } from "../support/docker/docker-server.js";

const obstacle = withoutDocker();
if (obstacle !== undefined) test("authorities in containers", ({ skip }) => skip(obstacle));
else
  describe("in a container,", () => {
    authorityStatements((options) => startDockerServer(options), ["curl", "python", "node", "pip"]);
  });
