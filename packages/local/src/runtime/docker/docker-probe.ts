import type Docker from "dockerode";
import type { RuntimeOptions } from "../runtime-options.js";
import type { Enforcement, RuntimeReport } from "../sandbox-runtime.js";
import { diskCount } from "./container-options.js";
import { type DockerFailure, hasImage, openDocker, unanswered } from "./engine/docker-engine.js";

/** The image of sandboxes unless another is named. It has Python and a shell; Node.js comes with the agent. */
export const defaultImage = "python:3.12-slim";

/** What `docker info` tells, as far as it matters here. */
interface DaemonInformation {
  readonly OSType: string;
  readonly Architecture: string;
  readonly ServerVersion: string;
  readonly InitBinary?: string;
  readonly MemoryLimit?: boolean;
  readonly PidsLimit?: boolean;
  readonly CpuCfsQuota?: boolean;
  readonly SecurityOptions?: readonly string[];
}

const architectures: Readonly<Record<string, string>> = { x86_64: "x64", aarch64: "arm64" };

/** Asks the daemon whether sandboxes can be started there. Starts no container and downloads no image. */
export async function probeDocker(
  image: string,
  { withoutSystemCallFilter = false, rootInside = false }: RuntimeOptions,
): Promise<{ readonly report: RuntimeReport; readonly filtersCalls: boolean }> {
  const unusable = (reason: string, fix: string) => ({
    report: { runtime: "docker", usable: false, reason, fix } as const,
    filtersCalls: false,
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
  const { OSType, Architecture, ServerVersion, SecurityOptions = [] } = information;
  if (OSType !== "linux")
    return unusable(`the Docker daemon runs ${OSType} containers`, "switch it to Linux containers");
  // The agent's Node.js is copied from this machine.
  if (process.platform !== "linux" || (architectures[Architecture] ?? Architecture) !== process.arch)
    return unusable(
      `the Docker daemon's machine is ${OSType} ${Architecture}, and the agent's Node.js of this machine, ${process.platform} ${process.arch}, does not run there`,
      "set DOCKER_HOST to a daemon on a Linux machine with this processor, or run this server there",
    );
  const filtersCalls = SecurityOptions.some((option) => option.startsWith("name=seccomp"));
  if (!filtersCalls && !withoutSystemCallFilter)
    return unusable(
      "the Docker daemon has no system call filter, so code in a sandbox could reach all of the kernel",
      "use a daemon with seccomp, or start with --without-system-call-filter if you trust the code that runs",
    );
  const isThere = await hasImage(docker, image).catch(() => false);
  return { report: usable(information, image, isThere), filtersCalls };

  function usable(found: DaemonInformation, name: string, hasImage: boolean): RuntimeReport {
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
        ...(hasImage
          ? []
          : [
              `the image ${name} is not there yet: the first sandbox downloads it; --docker-image names another`,
            ]),
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
