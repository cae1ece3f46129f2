import { describe, test } from "vitest";
import { startDockerServer, withoutDocker } from "../support/docker/docker-server.js";
import { vendorSdkSuite } from "./vendor-sdk-suite.js";

describe("the vendor's npm SDK, with containers", () => {
  const obstacle = withoutDocker();
  if (obstacle !== undefined) test("is tried", ({ skip }) => skip(obstacle));
  else
    vendorSdkSuite((args) => startDockerServer({ args }), {
      plots: "the image has no matplotlib",
      builds: "templates of containers are images of the daemon",
    });
});
