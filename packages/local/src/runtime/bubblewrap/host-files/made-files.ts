import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
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
    const { pipes, devices, skeleton } = wanted;
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
        KEPT: keptPath("directories-usr") ?? "",
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
  exec perl -e "$MAKING" -- "$@" -- "$SKELETON" "$LISTING" "$KEPT"
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
