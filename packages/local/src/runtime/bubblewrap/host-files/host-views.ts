import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, realpathSync, statSync, symlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { tryOnce } from "../../host/host-trial.js";

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
    private readonly directories: readonly Viewed[],
    private readonly isRoot: boolean,
    /** The directory with the machines' device nodes; undefined if machines use the host's. */
    private readonly devices: string | undefined,
    /** The directory below which a machine's overlays are mounted, in the machine's mount namespace. */
    private readonly at: string,
  ) {}

  /**
   * Tries to mount an overlay over each directory of `wanted`. Machines read the others directly. Makes links to the
   * directories beside the place of the mounts.
   */
  static async open(
    wanted: readonly string[],
    options: { isRoot: boolean; at: string; devices: DeviceNodes | undefined },
  ): Promise<HostViews> {
    const { isRoot, at } = options;
    const devices = options.devices?.directory;
    const links = join(dirname(at), "viewed");
    mkdirSync(links, { recursive: true });
    const linked = wanted.map((path, index) => {
      symlinkSync(path, join(links, String(index)));
      return { path, lower: `../viewed/${index}` };
    });
    const all = new HostViews(linked, isRoot, devices, at);
    const isWhole = ({ usable, hasDevices }: Trial): boolean =>
      usable.length === wanted.length && hasDevices === (devices !== undefined);
    // The names of this instance's own directories say nothing about the host.
    const paths = wanted.map((path) => path.replace(/(?<=\/cloud-sandbox[-/])\d+-\d+(-\w+)?/, ""));
    const about = { paths, hasDevices: devices !== undefined };
    const trial = { programs: ["unshare", "mount"], about };
    const attempt = async (): Promise<Trial> => {
      await options.devices?.made();
      return all.#try();
    };
    const { usable, hasDevices } = await tryOnce("views", trial, attempt, isWhole);
    const directories = linked.filter((_, index) => usable.includes(index));
    return new HostViews(directories, isRoot, hasDevices ? devices : undefined, at);
  }

  async #try(): Promise<Trial> {
    const [program, ...args] = mountNamespace(this.isRoot);
    const { stdout } = await run(program, [...args, "/bin/sh", "-c", trialScript, "trial", this.at], {
      cwd: "/",
      env: { PATH: process.env.PATH, VIEWS: this.directoryNames.join(" "), MOUNTS: this.mounts().join("\n") },
    }).catch(() => ({ stdout: "" }));
    const mounted = new Set(stdout.split("\n").map((line) => line.split(" ")[4]?.replaceAll("\\040", " ")));
    return {
      usable: [...this.directories.keys()].filter((index) => mounted.has(this.#mountPoint(index))),
      hasDevices: stdout.startsWith("devices\n") && mounted.has(join(this.at, "dev/pts")),
    };
  }

  /** The machine's `/dev`. Undefined if bubblewrap makes one from the host's device nodes. */
  get dev(): string | undefined {
    return this.devices && join(this.at, "dev");
  }

  /** The terminals of a machine whose `/dev` bubblewrap makes. Undefined if they are in {@link dev}. */
  get terminals(): string | undefined {
    return this.devices === undefined ? join(this.at, "pts") : undefined;
  }

  /** A mount of `/proc` whose inodes belong to the machine, for the kernel's settings in `/proc/sys`. */
  get proc(): string {
    return join(this.at, "proc");
  }

  /** The path from which bubblewrap mounts a host file or directory: inside an overlay if there is one. */
  seen(path: string): string {
    const index = this.#indexOf(path);
    const viewed = this.directories[index];
    return viewed === undefined ? path : this.#mountPoint(index) + path.slice(viewed.path.length);
  }

  /** The directories to make before {@link mounts}, relative to the place of the mounts. */
  get directoryNames(): string[] {
    return ["empty", "views", ...this.directories.map((_, index) => `views/${index}`), "dev", "proc", "pts"];
  }

  /**
   * The mounts, as lines of a file system table. With `paths`, only the overlays that contain one of these. `dev` is where
   * the machine's `/dev` is mounted.
   */
  mounts(paths?: readonly string[], dev = join(this.at, "dev")): string[] {
    const overlay = (target: string, lower: string, options: string): string =>
      tableLine("overlay", target, "overlay", `ro,nosuid,${options},lowerdir=empty:${lower}`);
    const used = new Set(paths?.map((path) => this.#indexOf(path)));
    const views = this.directories.flatMap(({ lower }, index) =>
      paths && !used.has(index)
        ? []
        : [overlay(this.#mountPoint(index), lower, `nodev,${overlayOption(this.isRoot)}`)],
    );
    const { terminals } = this;
    const ownTerminals = terminals === undefined ? [] : [terminalsLine(terminals)];
    if (!this.isRoot) return [...views, ...ownTerminals];
    const proc = tableLine("proc", this.proc, "proc", "ro,nosuid,nodev,noexec");
    if (this.devices === undefined) return [...views, proc, ...ownTerminals];
    return [
      ...views,
      proc,
      overlay(dev, `../${basename(this.devices)}`, `noexec,${overlayOption(true)}`),
      terminalsLine(`${dev}/pts`),
    ];
  }

  #indexOf(path: string): number {
    return this.directories.findIndex((viewed) => isWithin(path, viewed.path));
  }

  #mountPoint(index: number): string {
    return join(this.at, "views", String(index));
  }
}

/** The most terminals of a machine. Those of all machines and of the host's programs together are limited, to 4,096 as a rule. */
const mostTerminals = 64;

function terminalsLine(target: string): string {
  const options = `nosuid,noexec,newinstance,ptmxmode=0666,mode=0620,max=${mostTerminals}`;
  return tableLine("devpts", target, "devpts", options);
}

/** A directory that gets device nodes, and when they are made. */
export interface DeviceNodes {
  readonly directory: string;
  readonly made: () => Promise<void>;
}

/** A directory of the host, and its name in the options of an overlay mount. */
interface Viewed {
  readonly path: string;
  /**
   * A link, relative to the place of the mounts. The options are told in the list of all mounts, which bubblewrap reads for
   * each mount that it makes, and code in the machine can read them: short ones cost less and name no place of the host.
   */
  readonly lower: string;
}

/** What a trial has shown: the indices of the directories that have an overlay, and whether device nodes can be opened. */
interface Trial {
  readonly usable: readonly number[];
  readonly hasDevices: boolean;
}

/** Whether device nodes made by this process can be opened. Only a trial shows it; the trial leaves nothing behind. */
export async function allowsOwnDevices(isRoot: boolean): Promise<boolean> {
  const [program, ...args] = mountNamespace(isRoot);
  const attempt = "mount -t tmpfs tmpfs /tmp && cp -a /dev/null /tmp/null && true > /tmp/null";
  return tryOnce("devices", { programs: ["unshare", "mount"] }, () =>
    run(program, [...args, "/bin/sh", "-c", attempt], { cwd: "/" }).then(
      () => true,
      () => false,
    ),
  );
}

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
  const isContained = (path: string): boolean =>
    found.some((other) => other !== path && isWithin(path, other) && mountOf(other) === mountOf(path));
  return [...new Set(found)].filter((path) => !isContained(path));
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
