import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { tryOnce } from "../../host/host-trial.js";
import type { MachineLimits } from "../../sandbox-runtime.js";
import { limitVariables } from "../machine-environment.js";
import { limitsScript } from "../machine-image.js";
import type { RootEntry, WritableRoot } from "../writable-root.js";
import launcher from "./launcher.pl?raw";
import mapIds from "./map-ids.pl?raw";
import { become, becomeMachine } from "./shell-launch.js";

const run = promisify(execFile);

/** Time limit of the trial. It takes milliseconds, so one that runs on hangs. */
const trialLimitMs = 30_000;

/** What has to be done before the process becomes bubblewrap. */
export interface Launch {
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
      ...{ memberFiles: [], strayDescriptors: [], limits: undefined, uid: undefined },
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
