import { describe, test } from "vitest";
import { secretStatements } from "../network/secret-statements.js";
import { startKubernetesServer, withoutKubernetes } from "../support/kubernetes/kubernetes-server.js";

const obstacle = withoutKubernetes();
if (obstacle !== undefined) test("secrets in Pods", ({ skip }) => skip(obstacle));
else
  describe("in a Pod,", () => {
    secretStatements(startKubernetesServer, [
      "Python's urllib",
      "Python's requests",
      "Node's fetch",
      "Node's https",
    ]);
  });
