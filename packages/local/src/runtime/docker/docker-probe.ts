import type Docker from "dockerode";
import type { RuntimeOptions } from "../runtime-options.js";
import type { Enforcement, MachineImage, RuntimeReport } from "../sandbox-runtime.js";
import { mountObstacle } from "./container-mounts.js";
import { type DaemonAbilities, diskCount } from "./container-options.js";
import {
  type DaemonInformation,
  type DockerFailure,
  hasImage,
  openDocker,
  unanswered,
} from "./engine/docker-engine.js";
import { tryRuntime } from "./runtime-trial.js";

/**
 * Asks the daemon whether sandboxes can be started there. Downloads no image, and starts a container only if a runtime of the
 * daemon is named, to see which kernel answers inside.
 */
export async function probeDocker(
  images: readonly MachineImage[],
  { withoutSystemCallFilter = false, rootInside = false, dockerRuntime }: RuntimeOptions,
): Promise<{ readonly report: RuntimeReport; readonly daemon: DaemonAbilities }> {
  const unusable = (reason: string, fix: string) => ({
    report: { runtime: "docker", usable: false, reason, fix } as const,
    daemon: { filtersCalls: false, processors: 0, isolation: "container" } as const,
  });
  if (rootInside)
    return unusable(
      "code is never root in a container",
      "use the bubblewrap runtime, or leave --root-inside out",
    );
  let docker: Docker;
  let information: DaemonInformation;
  try {
    docker = openDocker();
    information = (await docker.info()) as DaemonInformation;
    const { Components = [] } = await docker.version();
    const podman = Components.find(({ Name }) => Name === "Podman Engine");
    if (podman)
      return unusable(
        `Podman ${podman.Version} answers there, and its API takes neither a list of system calls in the request nor the owner of a tmpfs mount, as Docker's does`,
        "use Docker, or the bubblewrap runtime",
      );
  } catch (error) {
    const { reason, fix } = unanswered(error as DockerFailure);
    return unusable(reason, fix);
  }
  const { OSType, NCPU, ServerVersion, SecurityOptions = [] } = information;
  if (OSType !== "linux")
    return unusable(`the Docker daemon runs ${OSType} containers`, "switch it to Linux containers");
  const filtersCalls = SecurityOptions.some((option) => option.startsWith("name=seccomp"));
  if (!filtersCalls && !withoutSystemCallFilter)
    return unusable(
      "the Docker daemon has no system call filter, so code in a sandbox could reach all of the kernel",
      "use a daemon with seccomp, or start with --without-system-call-filter if you trust the code that runs",
    );
  const isThere = await Promise.all(images.map(({ name }) => hasImage(docker, name).catch(() => false)));
  const absent = images.filter((_, index) => !isThere[index]).map(({ name }) => name);
  const withoutMounts = mountObstacle(information, dockerRuntime);
  const plain: DaemonAbilities = { filtersCalls, processors: NCPU, isolation: "container", withoutMounts };
  if (dockerRuntime === undefined) return { report: usable(information, absent), daemon: plain };
  const found = await tryRuntime(docker, {
    name: dockerRuntime,
    image: images[0]?.name ?? "",
    plain,
    information,
  });
  if ("reason" in found) return unusable(found.reason, found.fix);
  return { report: usable(information, absent, found), daemon: found };

  function usable(found: DaemonInformation, absent: readonly string[], { isolation } = plain): RuntimeReport {
    const held = (isHeld: boolean | undefined): Enforcement["by"] => (isHeld === false ? "none" : "cgroup");
    const isGvisor = isolation === "gvisor";
    const [gvisor] =
      Object.entries(found.Runtimes ?? {}).find(([, { path }]) => path?.endsWith("runsc")) ?? [];
    const enforcement: Enforcement[] = [
      { limit: "memory", by: held(found.MemoryLimit) },
      { limit: "processes", by: held(found.PidsLimit) },
      { limit: "cpu", by: held(found.CpuCfsQuota) },
      { limit: "disk", by: "tmpfs" },
      { limit: "pause", by: isGvisor ? "gvisor" : "cgroup" },
    ];
    return {
      ...{
        runtime: "docker",
        usable: true,
        isolation,
        version: ServerVersion,
        disks: diskCount,
      },
      enforcement,
      remarks: [
        ...absent.map(
          (name) =>
            `the image ${name} is not there yet: the first sandbox of it downloads it; --docker-image names others`,
        ),
        ...enforcement
          .filter(({ by }) => by === "none")
          .map(({ limit }) => `this daemon cannot limit ${limit}: give it the control groups that it lacks`),
        ...(filtersCalls
          ? []
          : ["there is no system call filter: code in a sandbox reaches all of the kernel"]),
        ...(gvisor === undefined || dockerRuntime !== undefined
          ? []
          : [`this daemon has gVisor: --docker-runtime ${gvisor} starts sandboxes with isolation "gvisor"`]),
        ...(isGvisor
          ? ["gVisor does not count processes: a sandbox that starts a multiple of --max-processes ends"]
          : []),
        "the root of a sandbox is read-only, and templates cannot be built",
      ],
    };
  }
}
