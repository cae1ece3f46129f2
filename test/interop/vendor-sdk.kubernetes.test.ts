import { describe, test } from "vitest";
import { startKubernetesServer, withoutKubernetes } from "../support/kubernetes/kubernetes-server.js";
import { vendorSdkSuite } from "./vendor-sdk-suite.js";

describe("the vendor's npm SDK, with Pods", () => {
  const obstacle = withoutKubernetes();
  if (obstacle !== undefined) test("is tried", ({ skip }) => skip(obstacle));
  else
    vendorSdkSuite((args) => startKubernetesServer({ args }), {
      plots: "the image has no matplotlib",
      builds: "templates of Pods are images that the cluster has",
      pauses: "Kubernetes cannot freeze a Pod",
    });
});
