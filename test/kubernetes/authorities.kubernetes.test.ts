import { describe, test } from "vitest";
import { authorityStatements } from "../network/authority-statements.js";
import { startKubernetesServer, withoutKubernetes } from "../support/kubernetes/kubernetes-server.js";

const obstacle = withoutKubernetes();
if (obstacle !== undefined) test("authorities in Pods", ({ skip }) => skip(obstacle));
else
  describe("in a Pod,", () => {
    authorityStatements((options) => startKubernetesServer(options), ["curl", "python", "node", "pip"]);
  });
