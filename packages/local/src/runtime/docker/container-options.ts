import type { ContainerCreateOptions } from "dockerode";
import { revealingNames } from "../bubblewrap/host-files/masked-kernel-files.js";
import { type Listening, listeningVariable } from "../container/channel/channel-protocol.js";
import { codeUid, inside } from "../container/paths.js";
import { type MachineLimits, type MachineMount, mostMemoryMb } from "../sandbox-runtime.js";
import { mountPoints, withVolumes } from "./container-mounts.js";
import { processLabels } from "./engine/container-owner.js";
import { seccompProfile } from "./engine/seccomp-profile.js";

/** The root is read-only, with two tmpfs of the disk's size: `/workspace`, and `/tmp` with the home directory. */
export const diskCount = 2;

/** Memory that the supervisor may use beside the sandbox's own, in MiB: the agent and the programs do not pay for it. */
const supervisorMb = 32;
/** The init and the supervisor, with its threads, do not count towards the processes of a sandbox. */
const ownProcesses = 16;
const mebibyte = 1024 * 1024;

/** Paths to hide from code: those that Docker hides by default, and those that tell about the host. */
const maskedPaths = [
  ...["/sys/firmware", "/sys/devices/virtual/powercap"],
  ...revealingNames.map((name) => `/proc/${name}`),
];

/** Variables with which an image could reach into the agent, which starts with those of the image. */
const takenFromImages = ["NODE_OPTIONS", "NODE_PATH", "NODE_EXTRA_CA_CERTS", "LD_PRELOAD", "LD_AUDIT"];

export interface Container {
  readonly name: string;
  readonly image: ContainerImage;
  readonly command: readonly string[];
  readonly limits: MachineLimits;
  readonly daemon: DaemonAbilities;
  /** Labels besides those of this process. */
  readonly labels?: Readonly<Record<string, string>>;
  /** How its supervisor is reached. Undefined if it has none. */
  readonly listening?: Listening;
  /** Mounts that are made after it has started; see {@link mountIn}. */
  readonly mounts?: readonly MachineMount[] | undefined;
}

export interface ContainerImage {
  readonly name: string;
  /** The variables that it sets for its programs. */
  readonly environment: Readonly<Record<string, string>>;
  /** The directories that it names with VOLUME. Default: none. */
  readonly volumes?: readonly string[];
}

/** Features of the daemon that containers depend on. */
export interface DaemonAbilities {
  /** Whether it can filter system calls. */
  readonly filtersCalls: boolean;
  /** The runtime of the daemon that starts the containers. Default: the daemon's own default. */
  readonly runtime?: string | undefined;
  /** The level that was found to hold inside its containers. */
  readonly isolation: "container" | "gvisor";
  /** The processors of its machine. It refuses containers with more. */
  readonly processors: number;
  /** See {@link mountObstacle}. */
  readonly withoutMounts?: string | undefined;
}

/**
 * Isolates a container: no network, no capability for code, no new privileges, a list of allowed system calls, a
 * read-only root, files in memory of a fixed size, limits, and nothing of the host but what a create request mounts.
 */
export function containerOptions({
  name,
  image,
  command,
  limits,
  daemon,
  labels,
  listening,
  mounts = [],
}: Container): ContainerCreateOptions {
  const memory = Math.ceil((mostMemoryMb(limits, diskCount) + supervisorMb) * mebibyte);
  const tmpfs = (megabytes: number, mode: string, uid = codeUid): string =>
    `rw,exec,nosuid,nodev,size=${Math.ceil(megabytes * mebibyte)},mode=${mode},uid=${uid},gid=${uid}`;
  return {
    name,
    Image: image.name,
    Entrypoint: [...command],
    Cmd: [],
    User: "0:0",
    WorkingDir: "/",
    Hostname: "sandbox",
    Env: [...environmentOf(image.environment), ...(listening ? [variableOf(listening)] : [])],
    Labels: { ...processLabels(), ...labels },
    // That of the image would run as root, with programs that code has put on the path.
    Healthcheck: { Test: ["NONE"] },
    // The channel: when the control plane is gone, the input ends.
    OpenStdin: true,
    StdinOnce: true,
    Tty: false,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    HostConfig: {
      // Docker would remove a container that outlives the daemon, and with it what tells whose it is.
      AutoRemove: false,
      Init: true,
      ...(daemon.runtime !== undefined && { Runtime: daemon.runtime }),
      // Not `NetworkDisabled`, with which `/etc/hosts` is empty, and no program finds "localhost".
      NetworkMode: "none",
      ExtraHosts: ["sandbox:127.0.0.1"],
      // Else code could read the name servers and search domains of the daemon's machine.
      Dns: ["127.0.0.1"],
      DnsSearch: ["."],
      IpcMode: "private",
      // Unknown to the library's types.
      ...{ CgroupnsMode: "private", MaskedPaths: maskedPaths },
      CapDrop: ["ALL"],
      // The agent starts programs as another uid. `setpriv`, which is not used with gVisor, needs SETPCAP to drop the other
      // capabilities.
      CapAdd: ["SETUID", "SETGID", ...(daemon.isolation === "gvisor" ? [] : ["SETPCAP"])],
      SecurityOpt: [
        "no-new-privileges",
        ...(daemon.filtersCalls ? [`seccomp=${seccompProfile(writesToHost(mounts))}`] : []),
      ],
      Privileged: false,
      ReadonlyRootfs: true,
      ...withVolumes(
        image.volumes ?? [],
        {
          "/workspace": tmpfs(limits.diskMb, "0755"),
          "/tmp": tmpfs(limits.diskMb / 2, "1777"),
          [inside.home]: tmpfs(limits.diskMb / 2, "0755"),
          "/run": tmpfs(4, "0755"),
          [inside.run]: tmpfs(1, "0711", 0),
          ...mountPoints(mounts),
        },
        daemon.isolation === "gvisor",
      ),
      ShmSize: 64 * mebibyte,
      Memory: memory,
      MemorySwap: memory,
      NanoCpus: Math.round(Math.min(limits.vcpu, daemon.processors) * 1e9),
      CpuShares: 512,
      // gVisor runs each process as several threads of the host, and its kernel ends when these reach the limit.
      PidsLimit: (limits.maxProcesses + ownProcesses) * (daemon.isolation === "gvisor" ? 8 : 1),
      Ulimits: [
        { Name: "nofile", Soft: 4096, Hard: 4096 },
        // With 1 byte, no crash starts the host's program that collects core files.
        { Name: "core", Soft: 1, Hard: 1 },
      ],
      // The output is the channel: it must not be written to the daemon's disk.
      LogConfig: { Type: "none", Config: {} },
      RestartPolicy: { Name: "no" },
    },
  };
}

/** The variable of a container's environment by which its supervisor knows how it is reached. */
export const variableOf = (listening: Listening): string =>
  `${listeningVariable}=${JSON.stringify(listening)}`;

/** Whether code can make files on this machine. */
export const writesToHost = (mounts: readonly MachineMount[]): boolean =>
  mounts.some(({ readOnly, source }) => !readOnly && "path" in source);

function environmentOf(environment: Readonly<Record<string, string>>): string[] {
  const { PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" } = environment;
  const variables = {
    PATH: `${inside.home}/.local/bin:${PATH}:${inside.fallbacks}`,
    HOME: inside.home,
    USER: "sandbox",
    LOGNAME: "sandbox",
    SHELL: "/bin/bash",
    TERM: "xterm-256color",
    // The root is read-only: packages are installed into the home directory.
    PIP_BREAK_SYSTEM_PACKAGES: "1",
    NPM_CONFIG_PREFIX: `${inside.home}/.local`,
    ...ownVariables,
  };
  // A name without a value removes the variable of the image.
  return [...Object.entries(variables).map(([key, value]) => `${key}=${value}`), ...takenFromImages];
}

/** Variables of the agent alone: they keep it from reading time zone files. */
export const ownVariables = { TZ: "UTC", TZDIR: inside.noFiles } as const;
