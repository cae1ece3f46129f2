import { join } from "node:path";
import type { Mount } from "../host/mount.js";
import { openFilesLimit } from "../host/open-files.js";
import type { MachineLimits } from "../sandbox-runtime.js";
import type { HostViews } from "./host-files/host-views.js";
import { agentTimeZone, type MachineImage } from "./machine-image.js";
import { type Identities, rootCapabilities, uidsInside } from "./user-namespace.js";
import type { VolumeMount } from "./volume-mounts.js";
import { diskMounts } from "./writable-root.js";

/** Descriptors that a machine is started with; see {@link bubblewrapArguments}. */
export const descriptors = {
  agentSocket: 3,
  information: 4,
  seccomp: 5,
  arguments: 6,
  uidsMapped: 7,
} as const;

/**
 * The hardened profile as options of bubblewrap. bubblewrap reads them from a descriptor, because all users of the host can
 * read its command line.
 *
 * Every namespace is new, code has no capability, and no further user namespace can be made. The root holds the host's
 * `/usr` and a synthetic `/etc` and nothing else of the host's. Written files go to a tmpfs of a fixed size, so a sandbox
 * cannot fill the host's disk. Without a {@link MachineImage.disk} the root is read-only.
 */
export function bubblewrapArguments(profile: {
  image: MachineImage;
  /** The overlays through which the machine reads host files. Undefined if it reads them directly. */
  views: HostViews | undefined;
  limits: MachineLimits;
  environment: Readonly<Record<string, string>>;
  /** Mounts that are in the machine's tree already; see `WritableRoot.placeable`. */
  placed?: readonly Mount[];
  /** The directory from which bubblewrap starts as its root; see `WritableRoot.makeOwnRoot`. */
  ownRoot?: string | undefined;
  /** A directory with the machine's memory files, in the form of a control group. */
  memoryFiles: Mount;
  /** The egress proxy's socket. */
  egress: Mount | undefined;
  /** Host files that only this machine may read. */
  files: readonly Mount[];
  /** Volumes, in the order of their paths inside. */
  volumes?: readonly VolumeMount[];
  /** The descriptors on which bubblewrap reports process 1, if it does, and reads the system call filter, if there is one. */
  descriptors: { readonly information?: number; readonly seccomp: number | undefined };
  /** Whether the command is process 1. If not, bubblewrap is process 1 and ends with the command. */
  isInit: boolean;
  /** If the machine has uids of its own, bubblewrap waits until they are mapped; see {@link descriptors}. */
  identities: Identities;
}): string[] {
  const { image, views, limits, environment, placed = [], memoryFiles, egress, files, identities } = profile;
  const isPlaced = new Set(placed.map(({ target }) => target));
  const { ownRoot = "" } = profile;
  /** A path as bubblewrap finds it. */
  const from = (path: string): string =>
    ownRoot !== "" && path.startsWith(`${ownRoot}/`) ? path.slice(ownRoot.length) : path;
  const missing = (mounts: readonly Mount[]) => mounts.filter(({ target }) => !isPlaced.has(target));
  const tmpfs = (target: string, megabytes: number, mode = "0755"): string[] => {
    const bytes = Math.ceil(megabytes * 1024 * 1024);
    return ["--perms", mode, "--size", String(bytes), "--tmpfs", target];
  };
  const { seccomp, information } = profile.descriptors;
  const { disk } = image;
  // Mode 0777, because bubblewrap makes these directories as the agent's uid and cannot give them to the code's uid.
  const openMode = identities === "user" ? "0755" : "0777";
  const readOnly = ({ source, target }: Mount): string[] => [
    "--ro-bind",
    from(views?.seen(source) ?? source),
    target,
  ];
  const devices = [
    views?.dev === undefined ? ["--dev", "/dev"] : ["--dev-bind", from(views.dev), "/dev"],
    views?.terminals === undefined ? [] : ["--dev-bind", from(views.terminals), "/dev/pts"],
    disk ? ["--bind", from(disk.sharedMemory), "/dev/shm"] : tmpfs("/dev/shm", 64, "1777"),
    // If the machine has an overlay for `/dev`, do not remount it: the overlay is read-only already, and a remount
    // would disable its devices.
    views?.dev === undefined ? ["--remount-ro", "/dev"] : [],
  ].flat();
  return [
    namespaceArguments(identities),
    information === undefined ? [] : ["--info-fd", String(information)],
    ["--hostname", "sandbox"],
    profile.isInit ? ["--as-pid-1"] : [],
    // `--bind` would remount all mounts of the tree with `nodev`, and devices of a `/dev` in the tree could not be opened. The
    // other flags are set already.
    disk ? [isPlaced.has("/dev") ? "--dev-bind" : "--bind", from(disk.root), "/"] : [],
    ...missing(image.mounts).map(readOnly),
    ...image.links.map(({ target, path }) => ["--symlink", target, path]),
    ["--proc", "/proc"],
    // Read-only, because code could raise the limits of its IPC namespace there.
    ["--ro-bind", from(join(views?.proc ?? "/proc", "sys")), "/proc/sys"],
    ...image.masks.map(readOnly),
    isPlaced.has("/dev") ? [] : devices,
    ...missing([memoryFiles]).map(readOnly),
    egress ? readOnly(egress) : [],
    disk
      ? missing(diskMounts(disk)).flatMap(({ source, target }) => ["--bind", source, target])
      : tmpfs("/run", 4, openMode),
    ...files.map(readOnly),
    disk
      ? []
      : [
          tmpfs("/tmp", limits.diskMb / 2, "1777"),
          tmpfs("/home/sandbox", limits.diskMb / 2, openMode),
          tmpfs("/workspace", limits.diskMb, openMode),
          ["--remount-ro", "/"],
        ].flat(),
    ...(profile.volumes ?? []).map(({ source, target, readOnly }) => [
      readOnly ? "--ro-bind" : "--bind",
      source,
      target,
    ]),
    // Start in `/`: code may have made its own directories unreadable for the agent's uid.
    ["--chdir", "/"],
    // Unset the variables that the shells around bubblewrap set.
    ...["PWD", "OLDPWD", "SHLVL", "_"].map((name) => ["--unsetenv", name]),
    environmentArguments(environment),
    seccomp === undefined ? [] : ["--seccomp", String(seccomp)],
  ].flat();
}

/** The options that set variables of the command. */
export function environmentArguments(environment: Readonly<Record<string, string>>): string[] {
  return Object.entries(environment).flatMap(([name, value]) => ["--setenv", name, value]);
}

/** The namespace options. The probe uses them too, so a host that refuses one of them is reported as unusable. */
export function namespaceArguments(identities: Identities): string[] {
  const { agent, code } = uidsInside(identities);
  const capabilities = identities === "range" ? rootCapabilities : ["setuid", "setgid", "setpcap"];
  return [
    // List the namespaces one by one: --unshare-all makes the user namespace optional, which --disable-userns refuses.
    [
      "--unshare-user",
      "--unshare-pid",
      "--unshare-net",
      "--unshare-ipc",
      "--unshare-uts",
      "--unshare-cgroup",
    ],
    ["--new-session", "--die-with-parent", "--cap-drop", "ALL"],
    identities !== "user"
      ? [
          ["--uid", String(agent), "--gid", String(agent)],
          ["--userns-block-fd", String(descriptors.uidsMapped)],
          capabilities.flatMap((name) => ["--cap-add", `CAP_${name.toUpperCase()}`]),
        ].flat()
      : ["--uid", String(code), "--gid", String(code), "--disable-userns"],
  ].flat();
}

const home = "/home/sandbox";

/** The environment of all programs of a machine. */
export function programEnvironment(image: MachineImage): Record<string, string> {
  return {
    PATH: `${home}/.local/bin:${image.path}`,
    HOME: home,
    USER: image.user,
    LOGNAME: image.user,
    SHELL: "/bin/bash",
    TERM: "xterm-256color",
    // pip refuses system-wide installs because of a marker file in the host's `/usr`. In a sandbox they are safe,
    // because packages are installed into the sandbox's own layer.
    PIP_BREAK_SYSTEM_PACKAGES: "1",
    ...(image.user === "root" && { PIP_ROOT_USER_ACTION: "ignore" }),
    // With a read-only `/usr`, packages must be installed into the home directory: pip does that by itself, npm needs
    // this setting.
    ...(image.disk === undefined && { NPM_CONFIG_PREFIX: `${home}/.local` }),
  };
}

/**
 * The environment of a machine's init and agent. It has no LANG: with LANG the init's shell would read locale files, which
 * code in the sandbox may have written before a stop.
 */
export function machineEnvironment(
  limits: MachineLimits,
  image: MachineImage,
  /** The search path that an imported image sets. */
  path: string | undefined,
): Record<string, string> {
  return {
    ...programEnvironment(image),
    ...(path !== undefined && { PATH: path }),
    ...agentTimeZone,
    ...limitVariables(limits),
  };
}

/** The variables of {@link limitsScript}. */
export function limitVariables(limits: MachineLimits): Record<string, string> {
  return {
    MACHINE_MEMORY_KB: String(limits.memoryMb * 1024),
    // The limit of processes. The init and the agent count towards it.
    MACHINE_PROCESSES: String(limits.maxProcesses),
    // The limit of open files. Lower for an ordinary user: the kernel counts the memory of open files, and of
    // descriptors sent through sockets, towards that user's limits on the host.
    MACHINE_FILES: String(Math.min(process.getuid?.() === 0 ? 4096 : 512, openFilesLimit)),
  };
}
