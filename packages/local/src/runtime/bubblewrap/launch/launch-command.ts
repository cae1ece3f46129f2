import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { promisify } from "node:util";
import { tryOnce } from "../../host/host-trial.js";
import type { MachineLimits } from "../../sandbox-runtime.js";
import { limitVariables } from "../bubblewrap-arguments.js";
import { limitsScript } from "../machine-image.js";
import type { RootEntry, WritableRoot } from "../writable-root.js";
import launcher from "./launcher.pl?raw";
import mapIds from "./map-ids.pl?raw";

const run = promisify(execFile);

/** Time limit of the trial. It takes milliseconds, so one that runs on hangs. */
const trialLimitMs = 30_000;

/** What has to be done before the process becomes bubblewrap. */
interface Launch {
  readonly memberFiles: readonly string[];
  readonly strayDescriptors: readonly number[];
  /** Limits for the command and everything it starts, if they are to be set here. */
  readonly limits: MachineLimits | undefined;
  readonly entry: RootEntry | undefined;
  /** The uid to become. Undefined if an ordinary user runs this process. */
  readonly uid: number | undefined;
}

export interface LaunchCommand {
  readonly command: readonly [string, ...string[]];
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * Whether `launcher.pl` works here. Only a trial shows it: Perl may be missing, and with another processor the numbers of
 * system calls differ, and bubblewrap may not start in `ownRoot`. The trial leaves nothing behind.
 */
export async function openLauncher(root: WritableRoot | undefined, ownRoot?: string): Promise<boolean> {
  const trial = { programs: ["perl", "bwrap"], about: [root !== undefined, ownRoot !== undefined] };
  return tryOnce("launcher", trial, () => {
    const { command, environment } = perlLaunch({
      memberFiles: [],
      strayDescriptors: [],
      limits: undefined,
      uid: undefined,
      entry: root?.enter({ uids: undefined, diskMb: 1, layers: [], ownRoot }),
    });
    const [program, ...args] = command;
    const env = { PATH: process.env.PATH, ...environment };
    const options = { cwd: "/", env, timeout: trialLimitMs, killSignal: "SIGKILL" } as const;
    return run(program, [...args, "bwrap", "--version"], options).then(
      () => true,
      () => false,
    );
  });
}

/**
 * The command that prepares a machine's first process and becomes the command after it. It runs `launcher.pl` where that
 * works, unless files have to be copied or volumes mounted. Otherwise it runs a shell, which starts a program for each step.
 */
export function launchCommand(launch: Launch, hasLauncher: boolean): LaunchCommand {
  return hasLauncher && launch.entry?.needsShell !== true ? perlLaunch(launch) : shellLaunch(launch);
}

function shellLaunch({ memberFiles, strayDescriptors, limits, entry, uid }: Launch): LaunchCommand {
  const [shell, ...args] = becomeMachine(memberFiles, strayDescriptors, limits ? limitsScript : "");
  return {
    command: [shell, ...args, ...(entry?.command ?? []), ...become(uid)],
    environment: { ...(limits && limitVariables(limits)), ...entry?.environment },
  };
}

function perlLaunch({ memberFiles, strayDescriptors, limits, entry, uid }: Launch): LaunchCommand {
  return {
    command: ["perl", "-e", mapIds + launcher, "--"],
    // Pass these values in the environment and not as arguments: all users of the host can read command lines.
    environment: {
      ...entry?.environment,
      MACHINE_ARCHITECTURE: process.arch,
      MACHINE_PARENT: String(process.pid),
      MACHINE_CLOSED: strayDescriptors.join(" "),
      MACHINE_GROUPS: memberFiles.join("\n"),
      ...(limits && limitVariables(limits)),
      ...(uid !== undefined && { MACHINE_USER: String(uid) }),
    },
  };
}

/**
 * The command of a shell that prepares a machine's first process and then runs the command after it. The shell exits if
 * this process died meanwhile, because then nothing else would end the machine. Otherwise it closes inherited
 * descriptors, tells the kernel to kill the machine first when memory runs out, enters the control groups, and runs the
 * lines in `limits`.
 */
function becomeMachine(
  memberFiles: readonly string[],
  strayDescriptors: readonly number[],
  limits = "",
): [string, ...string[]] {
  // Use bash, because other shells cannot redirect descriptors above 9.
  const shell = strayDescriptors.length > 0 && existsSync("/bin/bash") ? "/bin/bash" : "/bin/sh";
  const close = strayDescriptors.map((number) => `exec ${number}>&-; `).join("");
  const script = `[ "$PPID" = ${process.pid} ] || exit 125; ${close}echo 500 > /proc/self/oom_score_adj
prlimit --pid $$ --core=1:1 --nice=0:0 --rtprio=0:0 2>/dev/null || ulimit -c 0
while [ "$1" != -- ]; do echo 0 > "$1" || exit 125; shift; done; shift; ${limits}exec "$@"`;
  return [shell, "-c", script, "machine", ...memberFiles, "--"];
}

/** The command of a shell that enters the control groups and then runs the command after these arguments. */
export function enterGroups(memberFiles: readonly string[]): string[] {
  return ["/bin/sh", "-c", enterScript, "helper", ...memberFiles, "--"];
}

const enterScript = `while [ "$1" != -- ]; do echo 0 > "$1" || exit 125; shift; done; shift; exec "$@"`;

/** The command line prefix that runs the command after it as `uid`. */
export function become(uid: number | undefined): string[] {
  if (uid === undefined) return [];
  return ["setpriv", "--reuid", String(uid), "--regid", String(uid), "--clear-groups"];
}

/**
 * Numbers of the file descriptors that a child of this process would inherit. They are to be closed before a sandbox
 * starts.
 *
 * Node.js marks the descriptors that it opens as close-on-exec, but not all of those that this process was started with
 * (by a shell or a job runner).
 */
export function inheritableDescriptors(): number[] {
  const numbers = readdirSync("/proc/self/fd").map(Number);
  return numbers.filter((number) => number > 2 && !isCloseOnExec(number));
}

function isCloseOnExec(number: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${number}`, "utf8"))?.[1] ?? "0";
    return (Number.parseInt(flags, 8) & 0o2000000) !== 0;
  } catch {
    // The descriptor belonged to the directory listing above and is closed by now.
    return true;
  }
}
