import { randomBytes } from "node:crypto";
import type Docker from "dockerode";
import { containerOptions, type DaemonAbilities } from "./container-options.js";
import { removeContainer } from "./engine/container-owner.js";
import { type DaemonInformation, fromDaemon, hasImage } from "./engine/docker-engine.js";
import { outputOf } from "./image/image-trial.js";

const limits = { memoryMb: 512, diskMb: 16, vcpu: 1, maxProcesses: 64 };

/** The version that gVisor's kernel tells. Its name is missing in older ones, whose date is no real kernel's. */
const gvisorVersion = /^Linux version (\S*gvisor\S* |4\.4\.0 #1 SMP Sun Jan 10 15:06:54 PST 2016)/;

interface Trial {
  readonly name: string;
  readonly image: string;
  readonly plain: DaemonAbilities;
  readonly information: DaemonInformation;
}

/**
 * Starts a container with a runtime of the daemon and looks which kernel answers inside: a runtime's name and its path do not
 * say how strongly it isolates. Returns what containers get, or why there are none.
 */
export async function tryRuntime(
  docker: Docker,
  { name, image, plain, information: { Runtimes = {}, Architecture } }: Trial,
): Promise<DaemonAbilities | { readonly reason: string; readonly fix: string }> {
  if (!Object.hasOwn(Runtimes, name))
    return {
      reason: `the Docker daemon has no runtime named ${JSON.stringify(name)}; it has ${Object.keys(Runtimes).join(", ")}`,
      fix: `install it and name it in /etc/docker/daemon.json, as in {"runtimes":{"runsc":{"path":"/usr/bin/runsc","runtimeArgs":["--network=none"]}}}, and restart the daemon; or leave --docker-runtime out`,
    };
  if (!(await hasImage(docker, image)))
    return {
      reason: `the runtime ${name} cannot be tried without the image ${image}, which the Docker daemon does not have`,
      fix: `get it with "docker pull ${image}" or "docker load", or name another with --docker-image or CLOUD_SANDBOX_DOCKER_IMAGE`,
    };
  const daemon = { ...plain, runtime: name };
  const kernel = await kernelIn(docker, image, daemon).catch((error: Error) => error);
  if (kernel instanceof Error)
    return {
      reason: `the Docker daemon starts no container with the runtime ${name}: ${kernel.message}`,
      fix: `correct what "docker run --rm --runtime ${name} --network none ${image} true" reports, or leave --docker-runtime out`,
    };
  if (!gvisorVersion.test(kernel)) return daemon;
  if (Architecture !== "x86_64")
    return {
      reason: `gVisor is used on x86_64 only, and the Docker daemon's machine has ${Architecture}`,
      fix: "leave --docker-runtime out, or use a daemon on x86_64",
    };
  return { ...daemon, isolation: "gvisor" };
}

async function kernelIn(docker: Docker, image: string, daemon: DaemonAbilities): Promise<string> {
  const container = await fromDaemon(
    docker.createContainer(
      containerOptions({
        name: `cloud-sandbox-${randomBytes(8).toString("hex")}`,
        image: { name: image, environment: {} },
        limits,
        daemon,
        command: ["/bin/sh", "-c", 'read -r version </proc/version && echo "$version"'],
      }),
    ),
  );
  try {
    const output = (await outputOf(docker, container)).trim();
    if (!output.startsWith("Linux version ")) throw new Error(output.slice(-500) || "its shell said nothing");
    return output;
  } finally {
    await removeContainer(docker, container.id);
  }
}
