import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readlinkSync, symlinkSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { userPackages } from "../host/host-packages.js";
import { tryOnce } from "../host/host-trial.js";
import type { Mount } from "../host/mount.js";
import { type MachineUids, rangeSize } from "../host/uid-lease.js";
import type { MachineMount } from "../sandbox-runtime.js";
import {
  type DeviceNodes,
  escapedLayer,
  HostViews,
  mountNamespace,
  overlayOption,
  tableLine,
} from "./host-files/host-views.js";
import mapIds from "./launch/map-ids.pl?raw";
import {
  becomeScript,
  keepScript,
  keptAttributes,
  mountScript,
  procScript,
  readScript,
} from "./root-scripts.js";
import { copiesName, copyPlaces, type VolumeMount, volumeMounts, volumeVariables } from "./volume-mounts.js";

const run = promisify(execFile);

/** The mount points below the disk that {@link WritableRoot.enter} prepares for bubblewrap to bind. */
export interface MachineDisk {
  /** The merged tree: `/usr` and everything that the machine has changed. */
  readonly root: string;
  readonly workspace: string;
  readonly home: string;
  /** Shared memory of the machine's programs (`/dev/shm`). */
  readonly sharedMemory: string;
  readonly run: string;
}

/** The mount points of {@link MachineDisk} inside a machine, except those below `/dev`. */
export const diskMounts = ({ workspace, home, run }: MachineDisk): readonly Mount[] => [
  { source: run, target: "/run" },
  { source: home, target: "/home/sandbox" },
  { source: workspace, target: "/workspace" },
];

/** The mount points of {@link MachineDisk} and of an overlay with device nodes, in a machine's `/dev`. */
const deviceMounts = (dev: string, { sharedMemory }: MachineDisk): readonly Mount[] => [
  { source: dev, target: "/dev" },
  { source: sharedMemory, target: "/dev/shm" },
];

/** How a machine's tree is mounted. */
export interface RootEntry {
  /** The arguments of a shell that mounts the tree and then runs the command after these arguments. */
  readonly command: readonly string[];
  /** Variables that tell the shell, or `launcher.pl`, what to mount. */
  readonly environment: Readonly<Record<string, string>>;
  /** Whether files are copied to or from the tree, or volumes mounted, which only the shell does. */
  readonly needsShell: boolean;
}

/**
 * A root file system that each machine may change as it likes, over files that it shares with the host.
 *
 * It is an overlay: the machine's own changes on a tmpfs of limited size, then the layers of its template, then a
 * skeleton, then the packages that an ordinary user has set up, then the host's `/usr`. The host's directories belong to
 * a uid that does not exist inside, so programs could not create files in them. A merged directory takes its attributes from
 * the topmost layer that has it. So the skeleton contains the same directories, with a mode that lets everybody write. Files
 * of the host can be replaced inside, but never written.
 *
 * Where code is root inside, all files are seen through mounts that map uids: the host's and the template's files belong to
 * root inside, who may change their copies as on any machine, and new files are stored with the uids that the machine sees.
 *
 * Everything is mounted in a mount namespace of the machine's own and ends with it.
 */
export class WritableRoot {
  readonly disk: MachineDisk;
  /** The machines' overlays over host files. Undefined before {@link view}; host files are then bound directly. */
  #views: HostViews | undefined;
  readonly #at: string;

  private constructor(
    private readonly directory: string,
    private readonly isRoot: boolean,
    private readonly mapsIds: boolean,
  ) {
    this.#at = join(directory, "disk");
    const own = mapsIds ? join(this.#at, "mapped") : this.#at;
    this.disk = {
      root: join(this.#at, "merged"),
      workspace: join(own, "workspace"),
      home: join(own, "home"),
      sharedMemory: join(own, "shm"),
      run: join(own, "run"),
    };
  }

  /** Whether this kernel maps uids of `/usr` and of files in memory. Only a trial shows it; it leaves nothing behind. */
  static async tryMapped(): Promise<boolean> {
    const trial = await mkdtemp(join(tmpdir(), "cloud-sandbox-trial-"));
    const root = new WritableRoot(trial, true, true);
    try {
      await Promise.all([mkdir(join(root.skeleton, "usr"), { recursive: true }), mkdir(root.#at)]);
      const code = 2 ** 31 - rangeSize;
      const { command, environment } = root.enter({
        uids: { agent: code + rangeSize - 1, code, isRange: true },
        diskMb: 1,
        layers: [],
      });
      const [program, ...args] = command;
      const env = { PATH: process.env.PATH, ...environment };
      const attempt = ["/bin/sh", "-c", 'chown "$1" "$2/usr/bin" && mkdir "$2/made"', "trial"];
      await run(program ?? "", [...args, ...attempt, String(code), root.disk.root], { cwd: "/", env });
      return true;
    } catch {
      return false;
    } finally {
      await rm(trial, { recursive: true, force: true });
    }
  }

  /** The skeleton's root. Every machine has the files in it, and may replace or remove them. */
  get skeleton(): string {
    return join(this.directory, "skeleton", "root");
  }

  /** The directories of `/usr` that every machine may write to. */
  get usrSkeleton(): string {
    return join(this.directory, "skeleton", "usr");
  }

  /** Where the machines' device nodes belong. */
  get devices(): string {
    return join(this.directory, "devices");
  }

  /**
   * Prepares the root in `directory`. Undefined if a trial shows that this kernel refuses overlay mounts. The caller fills
   * {@link usrSkeleton}.
   */
  static async open(directory: string, isRoot: boolean): Promise<WritableRoot | undefined> {
    if (!(await allowsWritableRoot(isRoot))) return undefined;
    const root = new WritableRoot(directory, isRoot, false);
    root.#makeSkeleton();
    return root;
  }

  /** Prepares the root of machines in which code is root. The caller fills the {@link skeleton}, whose files belong to root inside. */
  static async openMapped(directory: string): Promise<WritableRoot> {
    const root = new WritableRoot(directory, true, true);
    await mkdir(root.skeleton, { recursive: true });
    await mkdir(root.#at);
    for (const path of [directory, join(directory, "skeleton"), root.skeleton, root.#at])
      await chmod(path, 0o755);
    return root;
  }

  get views(): HostViews | undefined {
    return this.#views;
  }

  /** Makes machines read these host directories through overlays of their own, where the kernel allows it. */
  async view(directories: readonly string[], devices: DeviceNodes | undefined): Promise<void> {
    // All roots of an instance share the nodes.
    if (devices && devices.directory !== this.devices) symlinkSync(devices.directory, this.devices);
    this.#views = await HostViews.open(directories, { isRoot: this.isRoot, at: this.#at, devices });
  }

  /**
   * All of `mounts`, the disk's and the devices, if {@link enter} can make them in the tree, so that bubblewrap binds the tree
   * with all of them at once; else empty. For each mount that bubblewrap makes itself, it reads the kernel's list of all
   * mounts, which costs more than the mount. `enter` makes only mounts of read-only overlays, and only in a tree without files
   * of other machines: a symbolic link among those could lead out of the tree.
   */
  placeable(mounts: readonly Mount[]): readonly Mount[] {
    const views = this.#views;
    if (!views || mounts.some(({ source }) => views.seen(source) === source)) return [];
    const { dev } = views;
    const devices = dev === undefined ? [] : deviceMounts(dev, this.disk);
    return [...mounts, ...diskMounts(this.disk), ...devices];
  }

  /**
   * Makes this root's own directory one that bubblewrap can start from as its root: it has what bubblewrap itself needs and
   * none of the host's mounts. So the list of mounts that bubblewrap reads for each mount is less than half as long.
   */
  makeOwnRoot(): string {
    for (const name of ["proc", "usr", "tmp"]) mkdirSync(join(this.directory, name));
    // Where the dynamic loader and libraries are: links to directories in `/usr`.
    for (const entry of readdirSync("/", { withFileTypes: true }))
      if (entry.isSymbolicLink() && entry.name.startsWith("lib"))
        symlinkSync(readlinkSync(join("/", entry.name)), join(this.directory, entry.name));
    return this.directory;
  }

  /** The command and variables that mount the tree of one machine before its command is run. */
  enter(machine: {
    /** Undefined if an ordinary user runs this process: the machine then has that user's uid. */
    uids: MachineUids | undefined;
    diskMb: number;
    /** Directories made by {@link enter} with `keepIn`, lowest first. */
    layers: readonly string[];
    /** Whether the lowest layer holds all files of an image: the host's `/usr` is not below it then. */
    isImage?: boolean | undefined;
    /** A file written by {@link read}; the machine starts with the files in it. */
    disk?: string | undefined;
    /** Where the machine's files are copied when the machine ends, if the directory exists at that time. */
    keepIn?: string | undefined;
    /** Volumes; bubblewrap binds them from {@link volumeMounts}. */
    volumes?: readonly MachineMount[];
    /** Mounts to make in the tree; see {@link placeable}. */
    placed?: readonly Mount[];
    /** The host's paths that are mounted, here or by bubblewrap. Default: any. */
    viewed?: readonly string[];
    /** See {@link makeOwnRoot}. Only `launcher.pl` can use it. */
    ownRoot?: string | undefined;
  }): RootEntry {
    const { uids, diskMb, layers, isImage = false, disk, keepIn, placed = [], volumes = [] } = machine;
    const { mapsIds } = this;
    const packages = userPackages();
    const hasDevices = placed.some(({ target }) => target === "/dev");
    const mapped: { source: string; target: string }[] = mapsIds
      ? [{ source: this.#at, target: "mapped" }]
      : [];
    /** The path at which a directory is read, which is a mount that maps its uids if code is root inside. */
    const seen = (source: string): string => {
      if (!mapsIds) return source;
      const target = `lower/${mapped.length}`;
      mapped.push({ source, target });
      return join(this.#at, target);
    };
    const readLayers = layers.map(seen).toReversed();
    const lower = (part: "root" | "usr", ...bottom: string[]): string =>
      [...readLayers.map((layer) => join(layer, part)), ...bottom].map(escapedLayer).join(":");
    // Relative to the place of the mounts, because short options cost less; see `HostViews`.
    const skeleton = mapsIds ? seen(join(this.directory, "skeleton")) : "../skeleton";
    const bottomOfUsr = mapsIds ? [] : [join(skeleton, "usr"), ...(packages === undefined ? [] : [packages])];
    const upper = mapsIds ? "mapped/" : "";
    const tree = (part: "root" | "usr", target: string, lowerDirectories: string): string =>
      tableLine(
        "overlay",
        target,
        "overlay",
        `nodev,nosuid,${overlayOption(this.isRoot)},lowerdir=${lowerDirectories},upperdir=${upper}${part},workdir=${upper}work/${part}`,
      );
    const mounts = [
      tree("root", this.disk.root, lower("root", join(skeleton, "root"))),
      tree(
        "usr",
        join(this.disk.root, "usr"),
        isImage ? lower("usr") : lower("usr", ...bottomOfUsr, seen("/usr")),
      ),
      ...(this.#views?.mounts(machine.viewed, hasDevices ? join(this.disk.root, "dev") : undefined) ?? []),
      ...placed
        .filter(({ target }) => target !== "/dev")
        .map(({ source, target }) =>
          tableLine(this.#views?.seen(source) ?? source, join(this.disk.root, target), "none", "bind"),
        ),
    ];
    const mount = this.isRoot ? mountScript : mountScript + procScript;
    const script = keepIn === undefined ? mount + becomeScript : mount + keepScript;
    // For the shell: `launcher.pl` has this code already.
    const mapper = mapsIds && {
      MACHINE_MAPPER: `${mapIds}\nmapIds($ENV{MACHINE_ARCHITECTURE}, split /\\n/, $ENV{MACHINE_MAPPED});`,
      MACHINE_ARCHITECTURE: process.arch,
    };
    return {
      command: [...mountNamespace(this.isRoot), ...["/bin/sh", "-c", script, "root"]],
      needsShell:
        disk !== undefined || keepIn !== undefined || volumes.length > 0 || hasOwnFiles(layers.at(-1)),
      // Pass these values in the environment and not as arguments: all users of the host can read command lines.
      environment: {
        MACHINE_PLACE: this.#at,
        ...(machine.ownRoot !== undefined && { MACHINE_ROOT: machine.ownRoot }),
        MACHINE_SIZE: tmpfsOptions(diskMb),
        // Uid 0: either files are stored with the uids that the machine sees, or this process's ordinary user is root in the
        // machine's user namespace.
        MACHINE_OWNER: String(mapsIds ? 0 : (uids?.code ?? 0)),
        MACHINE_DIRECTORIES: [
          ...ownDirectories,
          ...(mapsIds ? ["lower", ...mapped.map(({ target }) => target)] : []),
          ...(this.#views?.directoryNames ?? []),
        ].join(" "),
        MACHINE_MAPPED: mapsIds
          ? [uids?.code, rangeSize, ...mapped.flatMap(({ source, target }) => [source, target])].join("\n")
          : "",
        MACHINE_MOUNTS: mounts.join("\n"),
        MACHINE_KEEP: keepIn ?? "",
        MACHINE_LAYER: layers.at(-1) ?? "",
        MACHINE_DISK: disk ?? "",
        ...mapper,
        ...(volumes.length > 0 &&
          volumeVariables(this.disk, upper, overlayOption(this.isRoot), uids, volumes)),
      },
    };
  }

  /** The mounts that bubblewrap makes of a machine's volumes. */
  volumeMounts(volumes: readonly MachineMount[]): readonly VolumeMount[] {
    return volumeMounts(this.#at, volumes);
  }

  /** Where a machine has its copy of a directory of the host. */
  copyPlaces(mounts: readonly MachineMount[], target: string) {
    return copyPlaces(this.#at, dirname(this.disk.workspace), mounts, target);
  }

  /** The command that enters the mounts of a machine; the command to run there follows. `pid`: as for {@link read}. */
  inMountsOf(pid: number): [string, ...string[]] {
    return [
      ...(["nsenter", "--target", String(pid), "--mount"] as const),
      ...(this.isRoot ? [] : ["--user", "--preserve-credentials"]),
    ];
  }

  /**
   * The command that packs all files that a machine has written and streams the archive: the overlay's upper directories,
   * not the merged tree. `pid` is a process that {@link enter} started. The machine must be paused, so that no file changes.
   */
  read(pid: number): [string, ...string[]] {
    return [
      ...this.inMountsOf(pid),
      ...["/bin/sh", "-c", readScript, "read", this.#at],
      ...[
        "tar",
        "--create",
        "--blocking-factor=128",
        "--sparse",
        "--warning=no-file-ignored",
        `--directory=${this.#at}`,
      ],
      ...keptAttributes,
      // Leave out temporary directories of programs that have ended. The agent's own state has another name and is
      // kept.
      "--exclude=root/tmp/.cloud-sandbox-??????",
      ...["root", "usr", "workspace", "home", copiesName],
    ];
  }

  /** Synchronously: handing each of these short calls to another thread would take longer than the call. */
  #makeSkeleton(): void {
    // Everybody may write to the directories in it: only inside machines, so no other user of the host may come there.
    mkdirSync(dirname(this.usrSkeleton), { mode: 0o700 });
    mkdirSync(this.usrSkeleton);
    mkdirSync(this.#at);
    chmodSync(this.usrSkeleton, 0o777);
    for (const path of rootDirectories) {
      mkdirSync(join(this.skeleton, path), { recursive: true });
      chmodSync(join(this.skeleton, path), 0o777);
    }
    for (const path of ["tmp", "var/tmp"]) chmodSync(join(this.skeleton, path), 0o1777);
  }
}

/** Whether a layer has files that belong to the sandbox, and are copied for each one. */
function hasOwnFiles(layer: string | undefined): boolean {
  return (
    layer !== undefined && ["workspace", "home"].some((part) => readdirSync(join(layer, part)).length > 0)
  );
}

/** How many times its disk size a machine may fill: twice with a read-only root, where `/workspace` has a tmpfs of its own. */
export const diskCount = (isWritable: boolean): number => (isWritable ? 1 : 2);

/** Whether this kernel allows overlay mounts. Tries one and leaves nothing behind. After a success no call tries again. */
export async function allowsWritableRoot(isRoot: boolean): Promise<boolean> {
  isAllowed ||= await tryOnce("root", { programs: ["unshare", "mount"] }, () => tryWritableRoot(isRoot));
  return isAllowed;
}

let isAllowed = false;

async function tryWritableRoot(isRoot: boolean): Promise<boolean> {
  const [program, ...args] = mountNamespace(isRoot);
  const options = ["lowerdir=/usr", "upperdir=/tmp/upper", "workdir=/tmp/work", overlayOption(isRoot)].join(
    ",",
  );
  const attempt = `mount -t tmpfs tmpfs /tmp && cd /tmp && mkdir upper work merged &&
mount -t overlay -o ${options} overlay merged && mkdir merged/made`;
  return run(program, [...args, "/bin/sh", "-c", attempt], { cwd: "/" }).then(
    () => true,
    () => false,
  );
}

/** Directories of a machine's tmpfs. */
const ownDirectories = "workspace home copies run shm root usr work work/root work/usr merged".split(" ");

const page = 4096;

/** Limits the number of files to one per page of the size: an empty file takes no space, but 1.25 KiB of uncounted kernel memory. */
function tmpfsOptions(megabytes: number): string {
  const bytes = Math.ceil(megabytes * 1024 * 1024);
  return `size=${bytes},nr_inodes=${Math.ceil(bytes / page)},nodev,nosuid,mode=0755`;
}

/** Directories that programs expect at the root, and mount points. */
const rootDirectories = [
  ..."dev etc home home/sandbox mnt opt opt/cloud-sandbox opt/node proc run srv".split(" "),
  ..."sys sys/fs sys/fs/cgroup sys/fs/cgroup/memory tmp usr".split(" "),
  ..."var var/cache var/lib var/log var/tmp workspace".split(" "),
];
