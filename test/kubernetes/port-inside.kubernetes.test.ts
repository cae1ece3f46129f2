import { describe, test } from "vitest";
import { portInsideStatements } from "../network/port-inside-statements.js";
import { startKubernetesServer, withoutKubernetes } from "../support/kubernetes/kubernetes-server.js";

const obstacle = withoutKubernetes();
if (obstacle !== undefined) test("ports inside with kubernetes", ({ skip }) => skip(obstacle));
else
  describe("with kubernetes, a port inside, for programs that know no proxy,", () => {
    portInsideStatements((args) => startKubernetesServer({ args }));
  });
