import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, statfsSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { keptPath } from "../../host/kept-bytes.js";
import installDirectories from "./install-directories.pl?raw";
import makeNodes from "./made-files.pl?raw";

/** What is to be made for an instance. */
export interface WantedFiles {
  /** Paths of pipes that every uid may write to. */
  readonly pipes: readonly string[];
  /** A directory that gets device nodes; its parent exists. Undefined where this process may make none. */
  readonly devices: string | undefined;
  /** A directory that gets the directories of the host's `/usr` that programs install to. */
  readonly skeleton: string | undefined;
  /** Whether {@link skeleton} is a {@link keptTree}. */
  readonly isKept: boolean;
}

/** Types of file systems whose directories can be a layer of an overlay: ext4, XFS, Btrfs, tmpfs and overlays. */
const layerTypes: readonly number[] = [0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630];

/**
 * A directory in this user's cache that has the directories of `/usr` from one start to the next: to make and remove more than a
 * thousand takes a tenth of the time of a command that runs one program. Undefined where none can be kept. A server that runs for
 * long makes its own, because people empty their caches.
 */
export function keptTree(): string | undefined {
  const path = keptPath("tree-usr");
  try {
    return path !== undefined && layerTypes.includes(statfsSync(dirname(path)).type)
      ? path.replace(/\.kept$/, "")
      : undefined;
  } catch {
    return undefined;
  }
}

/** Time limit of the program that makes the files. It takes less than a second, so one that runs on hangs. */
const makingLimitMs = 30_000;

/** The number of the system call that makes nodes, for Perl. */
const mknodat: Partial<Record<string, string>> = { x64: "259", arm64: "33" };

/**
 * The files of an instance that Node.js cannot make, or only slowly: pipes, device nodes, and more than a thousand directories.
 * One program makes all of them, because each start of a program costs milliseconds: Perl, or a shell where there is none.
 */
export class MadeFiles {
  readonly #waiting = new Map<string, (isMade: boolean) => void>();
  readonly #pipes: Promise<void>;
  readonly #devices: Promise<void>;
  readonly #all: Promise<void>;

  /** Starts to make the files. */
  constructor(
    private readonly wanted: WantedFiles,
    limitMs = makingLimitMs,
  ) {
    const { pipes, devices, skeleton, isKept } = wanted;
    if (devices !== undefined) makeDeviceDirectory(devices);
    this.#pipes = this.#step("pipes");
    this.#devices = this.#step("devices");
    this.#all = this.#step("all");
    const child = spawn("/bin/sh", ["-c", script, "made-files", ...pipes], {
      cwd: "/usr",
      env: {
        PATH: process.env.PATH ?? "/usr/bin:/bin",
        DEVICES: devices,
        SKELETON: skeleton,
        NODES: deviceNodes.join(" "),
        MKNODAT: mknodat[process.arch],
        LISTING: listing,
        MAKING: makeNodes + installDirectories,
        KEPT: keptPath(isKept ? "tree-usr" : "directories-usr") ?? "",
        TREE: isKept ? "1" : "",
      },
      stdio: ["ignore", "pipe", "ignore"],
      timeout: limitMs,
      killSignal: "SIGKILL",
    });
    const end = (): void => {
      for (const settle of this.#waiting.values()) settle(false);
    };
    child.once("error", end);
    // Each step is one short line, which is written at once. The end of the pipe, not the exit: a line may come after the exit.
    child.stdout
      .setEncoding("utf8")
      .on("data", (text: string) => {
        for (const step of text.trim().split("\n")) this.#waiting.get(step)?.(true);
      })
      .once("close", end);
  }

  /** The pipes, once they are made. */
  async pipes(): Promise<readonly string[]> {
    await this.#pipes;
    return this.wanted.pipes;
  }

  /** Resolves when the device nodes are made. */
  devices(): Promise<void> {
    return this.#devices;
  }

  /** Resolves when everything is made. */
  all(): Promise<void> {
    return this.#all;
  }

  #step(name: string): Promise<void> {
    const made = new Promise<void>((resolve, reject) => {
      this.#waiting.set(name, (isMade) => {
        if (isMade) resolve();
        else reject(new Error(`files for sandboxes could not be made: ${name}`));
      });
    });
    made.catch(() => undefined);
    return made;
  }
}

/** Makes everything in the directory but the nodes. */
function makeDeviceDirectory(directory: string): void {
  for (const path of [directory, join(directory, "pts"), join(directory, "shm")]) {
    mkdirSync(path);
    chmodSync(path, 0o755);
  }
  for (const [name, target] of Object.entries(deviceLinks)) symlinkSync(target, join(directory, name));
}

const deviceNodes = ["null", "zero", "full", "random", "urandom", "tty"];
const deviceLinks = {
  fd: "/proc/self/fd",
  stdin: "/proc/self/fd/0",
  stdout: "/proc/self/fd/1",
  stderr: "/proc/self/fd/2",
  core: "/proc/kcore",
  ptmx: "pts/ptmx",
};

/**
 * Lists the directories of `/usr` that programs install to, each before those in it: three levels, and everything below those of
 * package managers. Copying the thousands of deeper directories would slow down the first start; machines cannot add files to those.
 * Below `share/doc` and `share/locale` there are only two levels, because programs make their own directories there.
 */
const listing = `deep=
for directory in local lib/node_modules; do [ ! -d "$directory" ] || deep="$deep ./$directory"; done
find . -xdev -mindepth 1 -maxdepth 3 -type d -print0 \\
  "(" -path ./local -o -path ./lib/node_modules -o -path ./share/doc -o -path ./share/locale ")" -prune
[ -z "$deep" ] || find $deep -xdev -mindepth 1 -type d -print0
`;

/** Without Perl, the list of directories is made anew each time. */
const script = `[ -z "$MKNODAT" ] || ! command -v perl >/dev/null ||
  exec perl -e "$MAKING" -- "$@" -- "$SKELETON" "$LISTING" "$KEPT" "$TREE"
umask 0
if [ $# -gt 0 ]; then mkfifo -m 622 "$@" || exit; fi
echo pipes
if [ -n "$DEVICES" ]; then
  (cd /dev && cp -a $NODES "$DEVICES") && (cd "$DEVICES" && chmod 666 $NODES) || exit
fi
echo devices
if [ -n "$SKELETON" ]; then
  mkdir -p "$SKELETON" && sh -c "$LISTING" | (cd "$SKELETON" && xargs -0 mkdir -p)
fi
echo all
`;
