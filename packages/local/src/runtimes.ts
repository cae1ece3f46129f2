import { BubblewrapRuntime } from "./runtime/bubblewrap/bubblewrap-runtime.js";
import type { RuntimeOptions } from "./runtime/runtime-options.js";
import type { RuntimeReport, SandboxRuntime } from "./runtime/sandbox-runtime.js";

/** All runtimes. The code of each is loaded when it is used. */
const runtimes = {
  bubblewrap: async (options: RuntimeOptions): Promise<SandboxRuntime> => new BubblewrapRuntime(options),
  docker: async (options: RuntimeOptions): Promise<SandboxRuntime> => {
    const { DockerRuntime } = await import("./runtime/docker/docker-runtime.js");
    return new DockerRuntime(options);
  },
  kubernetes: async (options: RuntimeOptions): Promise<SandboxRuntime> => {
    const { KubernetesRuntime } = await import("./runtime/kubernetes/kubernetes-runtime.js");
    return new KubernetesRuntime(options);
  },
} as const;

export type RuntimeName = keyof typeof runtimes;

export const runtimeNames = Object.keys(runtimes) as readonly RuntimeName[];

/** Names the runtime where no option does. */
export const runtimeVariable = "CLOUD_SANDBOX_RUNTIME";
/** Names the images of the docker runtime where no option does, with commas between them. */
const dockerImageVariable = "CLOUD_SANDBOX_DOCKER_IMAGE";

/** Names the runtime of the Docker daemon where no option does. */
const dockerRuntimeVariable = "CLOUD_SANDBOX_DOCKER_RUNTIME";

/** The images that an option names; without it, those of the environment. Undefined if neither names one. */
export function dockerImages(option?: string | readonly string[]): readonly string[] | undefined {
  const named = option ?? process.env[dockerImageVariable] ?? "";
  const names = [named].flat().flatMap((text) => text.split(","));
  const images = [...new Set(names.map((name) => name.trim()).filter((name) => name !== ""))];
  return images.length > 0 ? images : undefined;
}

/** The runtime of the Docker daemon that an option names; without it, that of the environment. */
export function dockerRuntime(option?: string): string | undefined {
  return (option ?? process.env[dockerRuntimeVariable]) || undefined;
}

type UsableReport = Extract<RuntimeReport, { usable: true }>;

type Choice =
  | { readonly runtime: SandboxRuntime; readonly report: UsableReport }
  | { readonly runtime: undefined; readonly reports: readonly RuntimeReport[] };

/**
 * The runtime of that name, or why it cannot be used here. `auto` takes docker if an image was named, else bubblewrap, and the
 * other of the two if that cannot be used. If a runtime of the Docker daemon was named, it takes docker alone, because
 * bubblewrap could be weaker than what was asked for. It never takes kubernetes.
 */
export async function chooseRuntime(name: string, options: RuntimeOptions): Promise<Choice> {
  if (name !== "auto") return firstUsable([name], options);
  if (options.dockerRuntime !== undefined) return firstUsable(["docker"], options);
  const isDockerWanted = options.dockerImages !== undefined;
  return firstUsable(isDockerWanted ? ["docker", "bubblewrap"] : ["bubblewrap", "docker"], options);
}

/** The first of `names` that can be used on this host. The log says why those before it were skipped. */
async function firstUsable(names: readonly string[], options: RuntimeOptions): Promise<Choice> {
  const reports: RuntimeReport[] = [];
  for (const name of names) {
    const runtime = await runtimeNamed(name, options);
    const report = runtime ? await runtime.probe() : unknownRuntime(name);
    if (runtime && report.usable) {
      for (const skipped of reports)
        if (!skipped.usable)
          options.log?.(`${skipped.runtime} is not used: ${skipped.reason}; to use it, ${skipped.fix}.`);
      return { runtime, report };
    }
    await runtime?.close();
    reports.push(report);
  }
  return { runtime: undefined, reports };
}

async function runtimeNamed(name: string, options: RuntimeOptions): Promise<SandboxRuntime | undefined> {
  return Object.hasOwn(runtimes, name) ? runtimes[name as RuntimeName](options) : undefined;
}

/** The report for an unknown runtime name, which callers without TypeScript can pass. */
function unknownRuntime(name: string): RuntimeReport {
  const fix = `use one of: auto, ${runtimeNames.join(", ")}`;
  return { runtime: name, usable: false, reason: `there is no runtime named ${JSON.stringify(name)}`, fix };
}

/** Reports whether each runtime can be used on this host. Leaves Kubernetes out unless the environment names a cluster. */
export function probeRuntimes(options: RuntimeOptions): Promise<RuntimeReport[]> {
  const { KUBECONFIG, KUBERNETES_SERVICE_HOST } = process.env;
  const hasCluster = Boolean(KUBECONFIG || KUBERNETES_SERVICE_HOST);
  const names = runtimeNames.filter((name) => name !== "kubernetes" || hasCluster);
  return Promise.all(names.map(async (name) => (await runtimes[name](options)).probe()));
}
