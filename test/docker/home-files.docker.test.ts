import { describe, test } from "vitest";
import { homeFilesStatements } from "../sandboxes/home-files-statements.js";
import { startDockerServer, withoutDocker } from "../support/docker/docker-server.js";

const obstacle = withoutDocker();
if (obstacle !== undefined) test("files of home directories in docker", ({ skip }) => skip(obstacle));
else
  describe("on a server of the runtime docker,", () => {
    homeFilesStatements((args) => startDockerServer({ args }));
  });
