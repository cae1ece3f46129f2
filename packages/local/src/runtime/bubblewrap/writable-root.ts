import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { chmod, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Mount } from "../host/mount.js";
import type { MachineUids } from "../host/uid-lease.js";
import {
  escapedLayer,
  HostViews,
  makeDevices,
  mountNamespace,
  overlayOption,
  tableLine,
} from "./host-files/host-views.js";

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

/** How a machine's tree is mounted. */
export interface RootEntry {
  /** The arguments of a shell that mounts the tree and then runs the command after these arguments. */
  readonly command: readonly string[];
  /** Variables that tell the shell, or `launcher.pl`, what to mount. */
  readonly environment: Readonly<Record<string, string>>;
  /** Whether files are copied to or from the tree, which only the shell does. */
  readonly copiesFiles: boolean;
}

/**
 * A root file system that each machine may change as it likes, over files that it shares with the host.
 *
 * It is an overlay: the machine's own changes on a tmpfs of limited size, then the layers of its template, then a
 * skeleton, then the host's `/usr`. The host's directories belong to a uid that does not exist inside, so programs could
 * not create files in them. A merged directory takes its attributes from the topmost layer that has it. So the skeleton
 * contains the same directories, with a mode that lets everybody write. Files of the host can be replaced inside, but never
 * written.
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
  ) {
    this.#at = join(directory, "disk");
    this.disk = {
      root: join(this.#at, "merged"),
      workspace: join(this.#at, "workspace"),
      home: join(this.#at, "home"),
      sharedMemory: join(this.#at, "shm"),
      run: join(this.#at, "run"),
    };
  }

  /** The skeleton's root. Every machine has the files in it, and may replace or remove them. */
  get skeleton(): string {
    return join(this.directory, "skeleton", "root");
  }

  /** Prepares the root in `directory`. Undefined if a trial shows that this kernel refuses overlay mounts. */
  static async open(directory: string, isRoot: boolean): Promise<WritableRoot | undefined> {
    if (!(await allowsWritableRoot(isRoot))) return undefined;
    const root = new WritableRoot(directory, isRoot);
    await root.#makeSkeleton();
    return root;
  }

  get views(): HostViews | undefined {
    return this.#views;
  }

  /** Makes machines read these host directories through overlays of their own, where the kernel allows it. */
  async view(directories: readonly string[]): Promise<void> {
    const devices = this.isRoot ? await makeDevices(join(this.directory, "devices")) : undefined;
    this.#views = await HostViews.open(directories, { isRoot: this.isRoot, at: this.#at, devices });
  }

  /**
   * All of `mounts` and the disk's, if {@link enter} can make them in the tree, so that bubblewrap binds the tree with all of
   * them at once; else empty. For each mount that bubblewrap makes itself, it reads the kernel's list of all mounts, which costs
   * more than the mount. `enter` makes only mounts of read-only overlays, and only in a tree without files of other machines:
   * a symbolic link among those could lead out of the tree.
   */
  placeable(mounts: readonly Mount[]): readonly Mount[] {
    const views = this.#views;
    const areViewed = views && mounts.every(({ source }) => views.seen(source) !== source);
    return areViewed ? [...mounts, ...diskMounts(this.disk)] : [];
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
    /** Mounts to make in the tree; see {@link placeable}. */
    placed?: readonly Mount[];
  }): RootEntry {
    const { uids, diskMb, layers, isImage = false, disk, keepIn, placed = [] } = machine;
    const lower = (part: "root" | "usr", ...bottom: string[]): string =>
      [...layers.toReversed().map((layer) => join(layer, part)), ...bottom].map(escapedLayer).join(":");
    const skeleton = join(this.directory, "skeleton");
    const tree = (part: "root" | "usr", place: string, lowerDirectories: string): string =>
      tableLine(
        "overlay",
        place,
        "overlay",
        `nodev,nosuid,${overlayOption(this.isRoot)},lowerdir=${lowerDirectories},upperdir=${part},workdir=work/${part}`,
      );
    const mounts = [
      tree("root", this.disk.root, lower("root", join(skeleton, "root"))),
      tree(
        "usr",
        join(this.disk.root, "usr"),
        isImage ? lower("usr") : lower("usr", join(skeleton, "usr"), "/usr"),
      ),
      ...(this.#views?.mounts ?? []),
      ...placed.map(({ source, target }) =>
        tableLine(this.#views?.seen(source) ?? source, join(this.disk.root, target), "none", "bind"),
      ),
    ];
    const mount = this.isRoot ? mountScript : mountScript + procScript;
    const script = keepIn === undefined ? mount + becomeScript : mount + keepScript;
    return {
      command: [...mountNamespace(this.isRoot), ...["/bin/sh", "-c", script, "root"]],
      copiesFiles: disk !== undefined || keepIn !== undefined || hasOwnFiles(layers.at(-1)),
      // Pass these values in the environment and not as arguments: all users of the host can read command lines.
      environment: {
        MACHINE_PLACE: this.#at,
        MACHINE_SIZE: tmpfsOptions(diskMb),
        // Uid 0: without root, the ordinary user of this process is root in the machine's user namespace.
        MACHINE_OWNER: String(uids?.code ?? 0),
        MACHINE_DIRECTORIES: [...ownDirectories, ...(this.#views?.directoryNames ?? [])].join(" "),
        MACHINE_MOUNTS: mounts.join("\n"),
        MACHINE_KEEP: keepIn ?? "",
        MACHINE_LAYER: layers.at(-1) ?? "",
        MACHINE_DISK: disk ?? "",
      },
    };
  }

  /**
   * The command that packs all files that a machine has written and streams the archive: the overlay's upper directories,
   * not the merged tree. `pid` is a process that {@link enter} started. The machine must be paused, so that no file changes.
   */
  read(pid: number): [string, ...string[]] {
    return [
      ...(["nsenter", "--target", String(pid), "--mount"] as const),
      ...(this.isRoot ? [] : ["--user", "--preserve-credentials"]),
      ...["/bin/sh", "-c", readScript, "read", this.#at],
      ...["tar", "--create", "--sparse", "--warning=no-file-ignored", `--directory=${this.#at}`],
      ...keptAttributes,
      // Leave out temporary directories of programs that have ended. The agent's own state has another name and is
      // kept.
      "--exclude=root/tmp/.cloud-sandbox-??????",
      ...["root", "usr", "workspace", "home"],
    ];
  }

  async #makeSkeleton(): Promise<void> {
    const usr = join(this.directory, "skeleton", "usr");
    await mkdir(usr, { recursive: true });
    await mkdir(this.#at);
    await chmod(usr, 0o777);
    const copying = spawn("/bin/sh", ["-c", skeletonScript, "skeleton", usr], {
      stdio: "ignore",
      cwd: "/usr",
    });
    // Listen for the end of the copy at once: it may end before the directories are made.
    await Promise.all([once(copying, "close"), this.#makeRootDirectories()]);
  }

  async #makeRootDirectories(): Promise<void> {
    for (const path of rootDirectories) {
      await mkdir(join(this.skeleton, path), { recursive: true });
      await chmod(join(this.skeleton, path), 0o777);
    }
    for (const path of ["tmp", "var/tmp"]) await chmod(join(this.skeleton, path), 0o1777);
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
  isAllowed ||= await tryWritableRoot(isRoot);
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
const ownDirectories = [
  "workspace",
  "home",
  "run",
  "shm",
  "root",
  "usr",
  "work",
  "work/root",
  "work/usr",
  "merged",
];

const page = 4096;

/** Limits the number of files to one per page of the size: an empty file takes no space, but 1.25 KiB of uncounted kernel memory. */
function tmpfsOptions(megabytes: number): string {
  const bytes = Math.ceil(megabytes * 1024 * 1024);
  return `size=${bytes},nr_inodes=${Math.ceil(bytes / page)},nodev,nosuid,mode=0755`;
}

/** Directories that programs expect at the root, and mount points. */
const rootDirectories = [
  ...[
    "dev",
    "etc",
    "home",
    "home/sandbox",
    "mnt",
    "opt",
    "opt/cloud-sandbox",
    "opt/node",
    "proc",
    "run",
    "srv",
  ],
  ...[
    "sys",
    "sys/fs",
    "sys/fs/cgroup",
    "tmp",
    "usr",
    "var",
    "var/cache",
    "var/lib",
    "var/log",
    "var/tmp",
    "workspace",
  ],
];

/**
 * Copies the directories of `/usr` that programs install to: three levels, and everything below those of package managers.
 * Copying the thousands of deeper directories would slow down the first start; machines cannot add files to those.
 */
const skeletonScript = `
deep=
for directory in local lib/node_modules; do [ -d "$directory" ] && deep="$deep $directory"; done
{ find . -xdev -mindepth 1 -maxdepth 3 -type d -print0; [ -z "$deep" ] || find $deep -xdev -type d -print0; } |
  (cd "$1" && xargs -0 mkdir -p -m 0777)
`;

/** tar options that keep extended attributes: the overlay's mark on a directory that hides a lower one, and users' own attributes. */
const keptAttributes = ["--xattrs", "--xattrs-include=trusted.overlay.opaque", "--xattrs-include=user.*"];

/**
 * Refuses paths longer than the kernel takes: tar can pack them and cannot unpack them. `cut` leaves something of a line only
 * if it is too long; `grep -E '.{4000}'` would need seconds of CPU time for such lines.
 */
const readScript = `cd "$1" || exit
if find root usr workspace home -printf '%p\\n' | LC_ALL=C cut -b 4000- | LC_ALL=C grep -q .; then
  echo "the path of a file in it is longer than 4000 bytes" >&2
  exit 1
fi
shift
exec "$@"
`;

const mountScript = `set -e
# Keep the list of mounts on a tmpfs of its own until mount has read it: restored files may fill the machine's disk.
mount -t tmpfs -o size=256k tmpfs "$MACHINE_PLACE"
printf '%s\\n' "$MACHINE_MOUNTS" > "$MACHINE_PLACE/mounts"
exec 9< "$MACHINE_PLACE/mounts"
umount --lazy "$MACHINE_PLACE"
mount -t tmpfs -o "$MACHINE_SIZE" tmpfs "$MACHINE_PLACE"
cd "$MACHINE_PLACE"
owner=$MACHINE_OWNER
install -d -o "$owner" -g "$owner" $MACHINE_DIRECTORIES
if [ -n "$MACHINE_DISK" ]; then
  tar --extract --preserve-permissions --no-same-owner --delay-directory-restore ${keptAttributes.join(" ")} < "$MACHINE_DISK"
  chown -hR "$owner:$owner" root usr workspace home
fi
mount -a -T /proc/self/fd/9
exec 9<&-
keep=$MACHINE_KEEP
layer=$MACHINE_LAYER
# Copy /workspace and home from the topmost layer only, which contains the files of all lower layers. A second copy would
# follow links of the first, which may lead to the host.
if [ -n "$layer" ] && [ -z "$MACHINE_DISK" ]; then
  for part in workspace home; do
    # Copy from inside the directory, so that no command line shows its path.
    (cd "$layer/$part"; [ -z "$(ls -A)" ] || cp -a . "$MACHINE_PLACE/$part/")
  done
  chown -hR "$owner:$owner" workspace home
fi
unset MACHINE_PLACE MACHINE_SIZE MACHINE_OWNER MACHINE_DIRECTORIES MACHINE_MOUNTS MACHINE_KEEP MACHINE_LAYER MACHINE_DISK
`;

/** Mounts the `/proc` of a new process namespace, because an ordinary user may mount no other. The mount outlives the namespace. */
const procScript = `unshare --pid --fork mount -t proc -o ro,nosuid,nodev,noexec proc proc
`;

const becomeScript = `cd /
exec "$@"
`;

/**
 * Copies the machine's files to the layer once no process of the machine is left to change them. Every uid may write to the
 * copies, because the next machine has another uid. The script syncs the copies to the disk, so a template that is ready
 * survives a power cut. It copies by relative paths, because the files' paths may be nearly as long as the kernel takes, and
 * to a descriptor, because all users of the host can read command lines.
 */
const keepScript = `set +e
"$@" &
# Close the descriptors: readers at their other ends wait until no process holds them.
exec 3>&- 4>&- 5>&- 6>&- 7>&-
wait $!
code=$?
[ -d "$keep" ] || exit "$code"
# Remove the agent's own files, which contain this machine's variables. Use find, because root/tmp may be a link to a
# place on the host by now.
find root/tmp -maxdepth 1 -name '.cloud-sandbox*' -exec rm -rf {} +
chmod -R a+rwX root usr && find workspace home -type d ! -perm -u=rwx -exec chmod u+rwx {} + && exec 8< "$keep" &&
  cp -a root usr workspace home /proc/self/fd/8/ && sync -f /proc/self/fd/8
`;
