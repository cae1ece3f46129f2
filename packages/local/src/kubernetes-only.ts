import { KubernetesOptionsError } from "./errors/local-errors.js";
import type { KubernetesOptions } from "./runtime/runtime-options.js";

/** The command line's name of each option. */
const names: Record<keyof KubernetesOptions, string> = {
  kubeconfig: "--kubeconfig",
  namespace: "--kubernetes-namespace",
  images: "--kubernetes-image",
  agentImage: "--kubernetes-agent-image",
  sandboxes: "--kubernetes-sandboxes",
  openNetwork: "--kubernetes-open-network",
  records: "--kubernetes-records",
  runtimeClass: "--kubernetes-runtime-class",
  placement: "--kubernetes-placement",
  startTimeoutSeconds: "--kubernetes-start-timeout",
};

/** Throws if options of the runtime kubernetes are set and another one was chosen, which would ignore them. */
export function requireKubernetesFor(options: KubernetesOptions, runtime: string): void {
  if (runtime === "kubernetes") return;
  const set = (Object.keys(names) as (keyof KubernetesOptions)[]).filter(
    (option) => options[option] !== undefined && options[option] !== false,
  );
  if (set.length > 0)
    throw new KubernetesOptionsError(
      set.map((option) => names[option]),
      runtime,
    );
}
