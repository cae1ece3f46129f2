import { join } from "node:path";
import type { Mount } from "../host/mount.js";
import type { MachineLimits } from "../sandbox-runtime.js";
import type { HostViews } from "./host-views.js";
import type { MachineImage } from "./machine-image.js";
import { uidInside } from "./user-namespace.js";

/** Descriptors that a machine is started with; see {@link bubblewrapArguments}. */
export const descriptors = {
  agentSocket: 3,
  information: 4,
  seccomp: 5,
  arguments: 6,
  uidsMapped: 7,
} as const;

/**
 * The hardened profile, as options of bubblewrap, which reads them from a descriptor: on its command line all users of the
 * host could read them.
 *
 * Every namespace is new, code has no capability, and no further user namespace can be made. The root holds the host's
 * `/usr` and a synthetic `/etc` and nothing else of the host's. What is written goes to a tmpfs of a fixed size, so a
 * full disk stays the sandbox's own. Without a {@link MachineImage.disk} the root is read-only.
 */
export function bubblewrapArguments(profile: {
  image: MachineImage;
  /** Where it finds what is the host's, if not in its place. */
  views: HostViews | undefined;
  limits: MachineLimits;
  environment: Readonly<Record<string, string>>;
  /** What it uses of its memory, in the form of a control group. */
  figures: Mount;
  /** Its way out. */
  egress: Mount | undefined;
  /** Of the host, for this machine alone. */
  files: readonly Mount[];
  hasSeccomp: boolean;
  /** Whether the agent has a uid of its own, for which bubblewrap waits at {@link descriptors}. */
  hasOwnUids: boolean;
}): string[] {
  const { image, views, limits, environment, figures, egress, files, hasSeccomp, hasOwnUids } = profile;
  const tmpfs = (target: string, megabytes: number, mode = "0755"): string[] => {
    const bytes = Math.ceil(megabytes * 1024 * 1024);
    return ["--perms", mode, "--size", String(bytes), "--tmpfs", target];
  };
  const { disk } = image;
  // bubblewrap makes them as the agent's uid, and can give nothing away.
  const openMode = hasOwnUids ? "0777" : "0755";
  const readOnly = ({ source, target }: Mount): string[] => [
    "--ro-bind",
    views?.seen(source) ?? source,
    target,
  ];
  return [
    namespaceArguments(hasOwnUids),
    ["--hostname", "sandbox"],
    ["--as-pid-1"],
    disk ? ["--bind", disk.root, "/"] : [],
    ...image.mounts.map(readOnly),
    ...image.links.map(({ target, path }) => ["--symlink", target, path]),
    ["--proc", "/proc"],
    // Limits of the IPC namespace are there, and could be lifted from inside.
    ["--ro-bind", join(views?.proc ?? "/proc", "sys"), "/proc/sys"],
    ...image.masks.map(readOnly),
    views?.dev === undefined ? ["--dev", "/dev"] : ["--dev-bind", views.dev, "/dev"],
    disk ? ["--bind", disk.sharedMemory, "/dev/shm"] : tmpfs("/dev/shm", 64, "1777"),
    // The one of its own is read-only as it is; another mount would take the devices out of it.
    views?.dev === undefined ? ["--remount-ro", "/dev"] : [],
    readOnly(figures),
    egress ? readOnly(egress) : [],
    disk ? ["--bind", disk.run, "/run"] : tmpfs("/run", 4, openMode),
    ...files.map(readOnly),
    disk
      ? [
          ["--bind", disk.home, "/home/sandbox"],
          ["--bind", disk.workspace, "/workspace"],
        ].flat()
      : [
          tmpfs("/tmp", limits.diskMb / 2, "1777"),
          tmpfs("/home/sandbox", limits.diskMb / 2, openMode),
          tmpfs("/workspace", limits.diskMb, openMode),
          ["--remount-ro", "/"],
        ].flat(),
    // The code may have closed its directories to the agent's uid.
    ["--chdir", "/"],
    // What the shells that lead to it add to what the machine is to inherit.
    ...["PWD", "OLDPWD", "SHLVL", "_"].map((name) => ["--unsetenv", name]),
    ...Object.entries(environment).map(([name, value]) => ["--setenv", name, value]),
    hasSeccomp ? ["--seccomp", String(descriptors.seccomp)] : [],
  ].flat();
}

/** Also what the probe starts, so that a host is called usable only when it grants all of it. */
export function namespaceArguments(hasOwnUids: boolean): string[] {
  const { agent, code } = uidInside;
  return [
    // Spelled out: --unshare-all leaves the user namespace optional, and --disable-userns then refuses.
    [
      "--unshare-user",
      "--unshare-pid",
      "--unshare-net",
      "--unshare-ipc",
      "--unshare-uts",
      "--unshare-cgroup",
    ],
    ["--new-session", "--die-with-parent", "--info-fd", String(descriptors.information), "--cap-drop", "ALL"],
    hasOwnUids
      ? [
          ["--uid", String(agent), "--gid", String(agent)],
          ["--userns-block-fd", String(descriptors.uidsMapped)],
          ["setuid", "setgid", "setpcap"].flatMap((name) => ["--cap-add", `CAP_${name.toUpperCase()}`]),
        ].flat()
      : ["--uid", String(code), "--gid", String(code), "--disable-userns"],
  ].flat();
}
