import { execFile } from "node:child_process";
import { readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/**
 * Read-only overlays through which each machine reads the host's files.
 *
 * A bind mount would share the host's inodes. Watches (inotify), locks (`flock`, `fcntl`) and leases belong to inodes, so
 * code in a machine would see which of these files the host and other machines open, and could block them. The inodes of
 * an overlay are its machine's alone, and the pages behind them are still shared.
 */
export class HostViews {
  private constructor(
    /** The host directories that have an overlay, each a different one. */
    private readonly directories: readonly string[],
    private readonly isRoot: boolean,
    /** The directory with the machines' device nodes; undefined if machines use the host's. */
    private readonly devices: string | undefined,
    /** The directory below which a machine's overlays are mounted, in the machine's mount namespace. */
    private readonly at: string,
  ) {}

  /** Tries to mount an overlay over each directory of `wanted`. Machines read the others directly. */
  static async open(
    wanted: readonly string[],
    options: { isRoot: boolean; at: string; devices: string | undefined },
  ): Promise<HostViews> {
    const { isRoot, at, devices } = options;
    const all = new HostViews(wanted, isRoot, devices, at);
    const [program, ...args] = mountNamespace(isRoot);
    const { stdout } = await run(program, [...args, "/bin/sh", "-c", trialScript, "trial", at], {
      cwd: "/",
      env: { PATH: process.env.PATH, VIEWS: all.directoryNames.join(" "), MOUNTS: all.mounts.join("\n") },
    }).catch(() => ({ stdout: "" }));
    const mounted = new Set(stdout.split("\n").map((line) => line.split(" ")[4]?.replaceAll("\\040", " ")));
    const usable = wanted.filter((_, index) => mounted.has(all.#place(index)));
    const hasDevices = stdout.startsWith("devices\n") && mounted.has(join(at, "dev/pts"));
    return new HostViews(usable, isRoot, hasDevices ? devices : undefined, at);
  }

  /** The machine's `/dev`. Undefined if bubblewrap makes one from the host's device nodes. */
  get dev(): string | undefined {
    return this.devices && join(this.at, "dev");
  }

  /** A mount of `/proc` whose inodes belong to the machine, for the kernel's settings in `/proc/sys`. */
  get proc(): string {
    return join(this.at, "proc");
  }

  /** The path from which bubblewrap mounts a host file or directory: inside an overlay if there is one. */
  seen(path: string): string {
    const index = this.directories.findIndex((directory) => isWithin(path, directory));
    const directory = this.directories[index];
    return directory === undefined ? path : this.#place(index) + path.slice(directory.length);
  }

  /** The directories to make before {@link mounts}, relative to the place of the mounts. */
  get directoryNames(): string[] {
    return ["empty", "views", ...this.directories.map((_, index) => `views/${index}`), "dev", "proc"];
  }

  /** The mounts, as lines of a file system table. */
  get mounts(): string[] {
    const overlay = (place: string, lower: string, options: string): string =>
      tableLine("overlay", place, "overlay", `ro,nosuid,${options},lowerdir=empty:${escapedLayer(lower)}`);
    const views = this.directories.map((directory, index) =>
      overlay(this.#place(index), directory, `nodev,${overlayOption(this.isRoot)}`),
    );
    if (!this.isRoot) return views;
    const proc = tableLine("proc", this.proc, "proc", "ro,nosuid,nodev,noexec");
    if (this.devices === undefined) return [...views, proc];
    const dev = join(this.at, "dev");
    return [
      ...views,
      proc,
      overlay(dev, this.devices, `noexec,${overlayOption(true)}`),
      tableLine("devpts", `${dev}/pts`, "devpts", "nosuid,noexec,newinstance,ptmxmode=0666,mode=0620"),
    ];
  }

  #place(index: number): string {
    return join(this.at, "views", String(index));
  }
}

/** Makes device nodes for the machines of this instance. Undefined if this process may not make device nodes. */
export async function makeDevices(directory: string): Promise<string | undefined> {
  return run("/bin/sh", ["-c", devicesScript, "devices", directory], { cwd: "/" }).then(
    () => directory,
    () => undefined,
  );
}

/** Whether device nodes made by this process can be opened. Only a trial shows it; the trial leaves nothing behind. */
export async function allowsOwnDevices(isRoot: boolean): Promise<boolean> {
  const [program, ...args] = mountNamespace(isRoot);
  const attempt = "mount -t tmpfs tmpfs /tmp && cp -a /dev/null /tmp/null && true > /tmp/null";
  return run(program, [...args, "/bin/sh", "-c", attempt], { cwd: "/" }).then(
    () => true,
    () => false,
  );
}

const devicesScript = `set -e
umask 022
mkdir "$1" "$1/pts" "$1/shm"
cd "$1"
cp -a /dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/tty .
chmod 666 null zero full random urandom tty
ln -s /proc/self/fd fd; ln -s /proc/self/fd/0 stdin; ln -s /proc/self/fd/1 stdout; ln -s /proc/self/fd/2 stderr
ln -s /proc/kcore core; ln -s pts/ptmx ptmx
`;

/** The fewest host directories that contain all of `paths`, without another file system mounted between a directory and a path. */
export function directoriesToView(paths: readonly string[]): string[] {
  const mounts = mountPoints();
  const mountOf = (path: string): string =>
    mounts
      .filter((mount) => isWithin(path, mount))
      .reduce((longest, mount) => (mount.length > longest.length ? mount : longest), "/");
  const found = paths.map((path) => {
    const top = ["/usr", "/etc"].find((directory) => isWithin(path, directory));
    if (top !== undefined && realpathSync(top) === top && mountOf(top) === mountOf(path)) return top;
    return statSync(path).isDirectory() ? path : dirname(path);
  });
  return [...new Set(found)];
}

/** The mount points of this host. */
export function mountPoints(): string[] {
  const table = readFileSync("/proc/self/mountinfo", "utf8").trim().split("\n");
  return [...new Set(table.map((line) => (line.split(" ")[4] ?? "").replaceAll("\\040", " ")))];
}

function isWithin(path: string, directory: string): boolean {
  return directory === "/" || path === directory || path.startsWith(`${directory}/`);
}

/** A command that runs another one in a new mount namespace, whose mounts nobody else sees. */
export function mountNamespace(isRoot: boolean): [string, ...string[]] {
  return ["unshare", "--mount", ...(isRoot ? [] : ["--map-root-user"])];
}

export function overlayOption(isRoot: boolean): string {
  return isRoot ? "redirect_dir=off" : "userxattr";
}

/** Escapes a path for the list of an overlay's layers. */
export function escapedLayer(path: string): string {
  return path.replace(/[\\:,]/g, "\\$&");
}

/** A line of a file system table for one mount. `mount --all` reads the table, so one process makes all mounts. */
export function tableLine(source: string, target: string, type: string, options: string): string {
  const fields = [source, target, type, options].map((field) =>
    field.replace(/[ \t\n\\]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, "0")}`),
  );
  return `${fields.join(" ")} 0 0`;
}

const trialScript = `cd / && mount -t tmpfs tmpfs "$1" && cd "$1" && mkdir $VIEWS && printf '%s\\n' "$MOUNTS" > mounts &&
{ mount -a -T mounts; [ -c dev/null ] && true > dev/null && echo devices; cat /proc/self/mountinfo; } 2>/dev/null`;
