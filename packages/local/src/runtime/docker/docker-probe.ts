import type Docker from "dockerode";
import type { RuntimeOptions } from "../runtime-options.js";
import type { Enforcement, MachineImage, RuntimeReport } from "../sandbox-runtime.js";
import { type DaemonAbilities, diskCount } from "./container-options.js";
import { type DockerFailure, hasImage, openDocker, unanswered } from "./engine/docker-engine.js";

/** What `docker info` tells, as far as it matters here. */
interface DaemonInformation {
  readonly OSType: string;
  readonly NCPU: number;
  readonly ServerVersion: string;
  readonly InitBinary?: string;
  readonly MemoryLimit?: boolean;
  readonly PidsLimit?: boolean;
  readonly CpuCfsQuota?: boolean;
  readonly SecurityOptions?: readonly string[];
}

/** Asks the daemon whether sandboxes can be started there. Starts no container and downloads no image. */
export async function probeDocker(
  images: readonly MachineImage[],
  { withoutSystemCallFilter = false, rootInside = false }: RuntimeOptions,
): Promise<{ readonly report: RuntimeReport; readonly daemon: DaemonAbilities }> {
  const unusable = (reason: string, fix: string) => ({
    report: { runtime: "docker", usable: false, reason, fix } as const,
    daemon: { filtersCalls: false, processors: 0 },
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
  return { report: usable(information, absent), daemon: { filtersCalls, processors: NCPU } };

  function usable(found: DaemonInformation, absent: readonly string[]): RuntimeReport {
    const held = (isHeld: boolean | undefined): Enforcement["by"] => (isHeld === false ? "none" : "cgroup");
    const enforcement: Enforcement[] = [
      { limit: "memory", by: held(found.MemoryLimit) },
      { limit: "processes", by: held(found.PidsLimit) },
      { limit: "cpu", by: held(found.CpuCfsQuota) },
      { limit: "disk", by: "tmpfs" },
      { limit: "pause", by: "cgroup" },
    ];
    return {
      ...{
        runtime: "docker",
        usable: true,
        isolation: "container",
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
        "the root of a sandbox is read-only, and templates cannot be built",
      ],
    };
  }
}
