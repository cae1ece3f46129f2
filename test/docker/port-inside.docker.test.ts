import { describe, test } from "vitest";
import { portInsideStatements } from "../network/port-inside-statements.js";
import { startDockerServer, withoutDocker } from "../support/docker/docker-server.js";

const obstacle = withoutDocker();
if (obstacle !== undefined) test("ports inside with docker", ({ skip }) => skip(obstacle));
else
  describe("with docker, a port inside, for programs that know no proxy,", () => {
    portInsideStatements((args) => startDockerServer({ args }));
  });
