import { RuntimeOptionsError } from "./errors/local-errors.js";
import type { LocalControlPlaneOptions } from "./local-control-plane-options.js";

/** The command line's names of the options that only the runtime docker has. */
const ofDocker = { dockerImage: "--docker-image", dockerRuntime: "--docker-runtime" } as const;

/** The command line's names of the options that only the runtime kubernetes has. */
const ofKubernetes: Record<keyof NonNullable<LocalControlPlaneOptions["kubernetes"]>, string> = {
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

/** Throws if an option is set that `runtime` would ignore. `auto` takes docker where one of docker's is set. */
export function requireOptionsOf(runtime: string, options: LocalControlPlaneOptions): void {
  const { dockerImage, dockerRuntime, kubernetes = {} } = options;
  if (runtime !== "auto") requireRuntime("docker", ofDocker, { dockerImage, dockerRuntime }, runtime);
  requireRuntime("kubernetes", ofKubernetes, kubernetes, runtime);
}

function requireRuntime<Name extends string>(
  needed: string,
  names: Readonly<Record<Name, string>>,
  options: { readonly [Option in Name]?: unknown },
  runtime: string,
): void {
  if (runtime === needed) return;
  const set = (Object.keys(names) as Name[]).filter(
    (option) => options[option] !== undefined && options[option] !== false,
  );
  const named = set.map((option) => names[option]);
  if (named.length > 0) throw new RuntimeOptionsError(needed, named, runtime);
}
