import { describe, test } from "vitest";
import { secretStatements } from "../network/secret-statements.js";
import { startDockerServer, withoutDocker } from "../support/docker/docker-server.js";

const obstacle = withoutDocker();
if (obstacle !== undefined) test("secrets in containers", ({ skip }) => skip(obstacle));
else
  describe("in a container,", () => {
    secretStatements(startDockerServer, [
      "Python's urllib",
      "Python's requests",
      "Node's fetch",
      "Node's https",
    ]);
  });
