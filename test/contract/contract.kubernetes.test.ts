import { test } from "vitest";
import { withoutKubernetes } from "../support/kubernetes/kubernetes-server.js";
import { startKubernetesBackend } from "./backends/kubernetes-backend.js";
import { contractSuite } from "./contract-suite.js";
import { templateMaking } from "./operations/templates.js";
import { operationsSuite } from "./operations-suite.js";

const obstacle = withoutKubernetes();
if (obstacle !== undefined) test("the contract on kubernetes", ({ skip }) => skip(obstacle));
else {
  // What Kubernetes has no way for: test/kubernetes shows how it is refused.
  const refused = [...templateMaking, "pauseSandbox", "resumeSandbox"];
  contractSuite(startKubernetesBackend, { pauses: false, builds: false, startsFast: false });
  operationsSuite(startKubernetesBackend, refused);
}
