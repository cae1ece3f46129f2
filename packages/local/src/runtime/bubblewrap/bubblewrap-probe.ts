import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants, existsSync, realpathSync, statfsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { type Controller, controlGroupState, openControlGroups } from "../host/control-group.js";
import { tryOnce } from "../host/host-trial.js";
import { temporaryDirectory } from "../host/instance-directory.js";
import { leastOpenFiles, openFilesLimit } from "../host/open-files.js";
import { processIdentity } from "../host/process-identity.js";
import { mapsRanges, usableRange } from "../host/uid-lease.js";
import { hostProblemIn } from "../host-problem.js";
import type { RuntimeOptions } from "../runtime-options.js";
import type { Enforcement, RuntimeReport } from "../sandbox-runtime.js";
import { descriptors, namespaceArguments } from "./bubblewrap-arguments.js";
import { allowsOwnDevices } from "./host-files/host-views.js";
import { dynamicLoader } from "./host-files/loader.js";
import { become } from "./launch/launch-command.js";
import { hasSeccompFilter, seccompProgram } from "./system-calls/seccomp-filter.js";
import { mapUids, readInitPid, separation } from "./user-namespace.js";
import { allowsWritableRoot, diskCount, WritableRoot } from "./writable-root.js";

const run = promisify(execFile);

/** Runs a program in the real profile, because only a trial shows what the kernel, AppArmor and sysctls allow. */
export async function probeBubblewrap({
  withoutSystemCallFilter = false,
  rootInside = false,
}: RuntimeOptions): Promise<RuntimeReport> {
  const unusable = (reason: string, fix: string): RuntimeReport => ({
    runtime: "bubblewrap",
    usable: false,
    reason,
    fix,
  });
  if (process.platform !== "linux") {
    return unusable(
      `bubblewrap needs Linux, and this machine has ${process.platform}`,
      "start Docker, whose sandboxes need no Linux here, use a Linux machine, or set CLOUD_SANDBOX_API_KEY for the cloud",
    );
  }
  if (!hasSeccompFilter(process.arch) && !withoutSystemCallFilter) {
    return unusable(
      `there is no system call filter for ${process.arch}, so code in a sandbox could make any system call`,
      "use an x64 or arm64 machine, or start with --without-system-call-filter if you trust the code that runs",
    );
  }
  const isRoot = process.getuid?.() === 0;
  const obstacleToUsers = isRoot ? twoUsersObstacle() : undefined;
  if (obstacleToUsers) return unusable(...obstacleToUsers);
  const programs = ["bwrap", "setpriv", "nsenter"];
  const { version, problem } = await tryOnce("profile", { programs }, () => tryProfile(isRoot), isAllowed);
  if (version === undefined)
    return unusable("bubblewrap is not installed", 'install it with "apt-get install bubblewrap"');
  if (!isAtLeast08(version)) {
    return unusable(
      `bubblewrap ${version} is too old (0.8.0 is needed)`,
      "install bubblewrap 0.8.0 or newer",
    );
  }
  if (openFilesLimit < leastOpenFiles) {
    return unusable(
      `only ${openFilesLimit} files may be open at a time, and each sandbox needs ${leastOpenFiles}`,
      'raise the limit with "ulimit -n 4096", or with LimitNOFILE= of systemd',
    );
  }
  const obstacleToFiles = temporaryFilesObstacle(isRoot);
  if (obstacleToFiles) return unusable(...obstacleToFiles);
  if (problem !== undefined) {
    const missing = isRoot ? missingProgram(["setpriv", "nsenter"]) : undefined;
    if (missing) return unusable(...missing);
    const known = hostProblemIn(problem.message);
    if (known) return unusable(known.reason, known.fix);
    const errorOutput = problem.message.trim().split("\n")[0] ?? "";
    return unusable(`the kernel refuses unprivileged namespaces (${errorOutput})`, await namespaceFix());
  }
  if (rootInside) {
    const obstacle = await rootInsideObstacle(isRoot);
    if (obstacle) return unusable(...obstacle);
  }
  const enforcement = await measureEnforcement(isRoot);
  return { runtime: "bubblewrap", usable: true, isolation: "namespace", version, ...enforcement };
}

/** Bytes of an instance's files, when it has no machines yet: about 700 kB. */
const leastTemporarySpace = 1024 * 1024;

/** Why an instance's files cannot be made here, and what mends it. */
function temporaryFilesObstacle(isRoot: boolean): readonly [reason: string, fix: string] | undefined {
  const directory = temporaryDirectory();
  try {
    accessSync(directory, constants.W_OK | constants.X_OK);
  } catch {
    return [
      `the directory for temporary files, ${directory}, cannot be written to`,
      "set TMPDIR to a directory that can",
    ];
  }
  const { bavail, bfree, blocks, bsize } = statfsSync(directory);
  // Root may also use the blocks that a file system reserves. A file system without a size says that it has no blocks.
  const free = (isRoot ? bfree : bavail) * bsize;
  if (blocks > 0 && free < leastTemporarySpace)
    return [
      `the directory for temporary files, ${directory}, has no space left`,
      "remove files there, or set TMPDIR to another directory",
    ];
  return undefined;
}

/**
 * Why an agent of this Node.js cannot become its code's user, as that of a server of root does, and what mends it. Builds whose libuv
 * may use io_uring, as Debian 13's, refuse every change of user.
 */
function twoUsersObstacle(): readonly [reason: string, fix: string] | undefined {
  try {
    // Changes nothing.
    process.setegid?.(process.getegid?.() ?? 0);
    return undefined;
  } catch (error) {
    const { message } = error as Error;
    return [
      `this Node.js, ${process.execPath}, cannot change its user (${message})`,
      "start as an ordinary user, for whom it need not, or with a Node.js from https://nodejs.org",
    ];
  }
}

/** Why code cannot be root inside sandboxes here, and what mends it. */
async function rootInsideObstacle(
  isRoot: boolean,
): Promise<readonly [reason: string, fix: string] | undefined> {
  if (!isRoot)
    return [
      "root inside a sandbox needs a range of uids, which an ordinary user does not have",
      "start as root, or leave --root-inside out",
    ];
  if (!mapsRanges(await readFile("/proc/self/uid_map", "utf8")))
    return [
      "root inside a sandbox needs uids up to 2147483647, and this container maps fewer",
      "start outside of the container, or leave --root-inside out",
    ];
  if (!(await WritableRoot.tryMapped()))
    return [
      "root inside a sandbox needs mounts that map uids, which this kernel or the file system of /usr does not have, and Perl",
      "use Linux 6.3 or newer and install perl, or leave --root-inside out",
    ];
  return undefined;
}

interface ProfileTrial {
  /** Undefined if bubblewrap is not installed. */
  readonly version?: string;
  readonly problem?: NodeJS.ErrnoException;
}

const isAllowed = ({ version, problem }: ProfileTrial): boolean => version !== undefined && !problem;

async function tryProfile(isRoot: boolean): Promise<ProfileTrial> {
  const told = await run("bwrap", ["--version"]).catch(() => undefined);
  if (told === undefined) return {};
  const version = told.stdout.trim().split(" ").at(-1) ?? "";
  // An old version refuses options of the profile. The caller tells why.
  if (!isAtLeast08(version)) return { version };
  return startProfile(isRoot).then(
    () => ({ version }),
    (problem: NodeJS.ErrnoException) => ({ version, problem }),
  );
}

const probeLimitMs = 20_000;

/**
 * A shell script that waits for a line on stdin, and then fails if a process inside can create a further user
 * namespace.
 */
const failIfNested = "read -r started; ! unshare --user true 2>/dev/null";

/**
 * Descriptor number of a pipe whose other end only this process holds. When this process closes it or dies, the probe
 * is killed.
 */
const killPipe = 8;

/**
 * A shell that runs the command after it, and kills the whole process group when the `killPipe` pipe is closed. Needed
 * because a probe is in no control group, and bubblewrap's child waits forever if bubblewrap dies first.
 */
const withKillPipe = `{ read -r _; kill -9 0; } <&${killPipe} 2>/dev/null ${descriptors.information}>&- ${descriptors.uidsMapped}>&- &
exec "$@" ${killPipe}>&-`;

/** Throws bubblewrap's message when the host does not allow the profile, or allows only a weaker one. */
async function startProfile(isRoot: boolean): Promise<void> {
  const { first } = isRoot ? usableRange(await readFile("/proc/self/uid_map", "utf8")) : { first: 0 };
  const uids = isRoot ? { agent: first, code: first + 1 } : undefined;
  const filter = seccompProgram(process.arch);
  const [program = "", ...args] = [
    ...become(uids?.agent),
    ...["/bin/sh", "-c", withKillPipe, "probe"],
    ...[
      "bwrap",
      ...namespaceArguments(isRoot ? "pair" : "user"),
      "--info-fd",
      String(descriptors.information),
      ...(filter ? ["--seccomp", String(descriptors.seccomp)] : []),
    ],
    ...directoriesOf(["sh", "setpriv", "unshare"]).flatMap((path) => ["--ro-bind-try", path, path]),
    ...["--proc", "/proc", "--dev", "/dev"],
    ...(isRoot ? ["setpriv", ...separation] : []),
    ...["/bin/sh", "-c", failIfNested],
  ];
  const stdio: ("pipe" | "ignore")[] = ["pipe", "ignore", "pipe"];
  for (const number of Object.values(descriptors)) stdio[number] = "ignore";
  stdio[descriptors.information] = "pipe";
  if (isRoot) stdio[descriptors.uidsMapped] = "pipe";
  if (filter) stdio[descriptors.seccomp] = "pipe";
  stdio[killPipe] = "pipe";
  // Start the probe detached: it then leads its own process group, which can be killed as a whole.
  const child = spawn(program, args, { cwd: "/", stdio, detached: true });
  const kill = (): void => void child.stdio.at(killPipe)?.destroy();
  const giveUp = setTimeout(kill, probeLimitMs);
  const errorOutput = child.stderr ? text(child.stderr) : "";
  // "exit", not "close": a child that waits for its dead parent keeps the pipes open.
  const ended = once(child, "exit").finally(kill);
  // Ignore write errors: the exit code below says why the probe failed.
  child.stdin?.on("error", () => undefined);
  const filterPipe = child.stdio.at(descriptors.seccomp);
  if (filterPipe instanceof Writable) filterPipe.on("error", () => undefined).end(filter);
  ended.catch(() => undefined);
  const init = await readInitPid(child.stdio[descriptors.information] as Readable);
  const gate = child.stdio.at(descriptors.uidsMapped);
  try {
    if (uids && init !== undefined && gate instanceof Writable) await mapUids(init, uids, gate);
    child.stdin?.end("started\n");
    const [code] = await ended;
    if (code === null) throw new Error(`bubblewrap was killed, or took longer than ${probeLimitMs / 1000} s`);
    if (code !== 0)
      throw new Error((await errorOutput) || "processes inside can create further user namespaces");
  } finally {
    clearTimeout(giveUp);
    kill();
  }
}

/**
 * Directories with these programs and their libraries. Not the whole root: when any file system of the host is unmounted while
 * bubblewrap binds it, bubblewrap fails.
 */
function directoriesOf(programs: readonly string[]): readonly string[] {
  const paths = programs.flatMap((name) => {
    const path = pathOf(name);
    return path === undefined ? [] : [path, realpathSync(path)];
  });
  const own = paths.map((path) => `/${path.split("/")[1]}`);
  return [...new Set(["/usr", "/bin", "/lib", "/lib64", ...own])];
}

/** Why machines have no overlay mounts, with what mends it, where a trial has shown that they have none. */
export function overlayObstacle(): string {
  const missing = missingProgram(["unshare", "mount"]);
  if (missing) return missing.join(": ");
  return "this kernel does not allow overlay mounts here (Linux 5.11 or newer allows them to all users; in a container nothing may be mounted below /usr, as Docker's --init does)";
}

function isAtLeast08(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > 0 || minor >= 8;
}

async function namespaceFix(): Promise<string> {
  const setting = async (name: string): Promise<string | undefined> =>
    (await readFile(`/proc/sys/${name}`, "utf8").catch(() => undefined))?.trim();
  if ((await setting("kernel/apparmor_restrict_unprivileged_userns")) === "1") {
    return 'allow them with "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0", or give bwrap an AppArmor profile with "userns"';
  }
  if ((await setting("kernel/unprivileged_userns_clone")) === "0") {
    return 'allow them with "sysctl -w kernel.unprivileged_userns_clone=1"';
  }
  if ((await setting("user/max_user_namespaces")) === "0") {
    return 'allow them with "sysctl -w user.max_user_namespaces=10000"';
  }
  return "if this is a container, start it with namespaces allowed (for Docker: --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined)";
}

/** The controllers of which this process can make groups. */
async function tryControlGroups(): Promise<readonly Controller[]> {
  const groups = await openControlGroups(`probe-${processIdentity(process.pid)}`);
  await groups?.close();
  return groups?.controllers ?? [];
}

async function measureEnforcement(
  isRoot: boolean,
): Promise<{ enforcement: Enforcement[]; disks: number; remarks: string[] }> {
  const tried = { programs: [], about: controlGroupState() };
  const controllers = await tryOnce("groups", tried, tryControlGroups, (usable) => usable.length > 0);
  const by = (
    controller: "memory" | "pids" | "cpu" | "freezer",
    otherwise: Enforcement["by"],
  ): Enforcement["by"] => (controllers.includes(controller) ? "cgroup" : otherwise);
  const remarks: string[] = [];
  if (controllers.length === 0) {
    remarks.push(
      "the memory limit of a sandbox is enforced by a check four times a second, which does not see the kernel's memory for sockets and file names, and its CPU is not limited: start as root, or where control groups can be written",
    );
  }
  const hasWritableRoot = await allowsWritableRoot(isRoot);
  if (!hasWritableRoot) {
    remarks.push(
      `the root of a sandbox is read-only, templates cannot be built, and code in a sandbox can notice when this machine opens a shared program or library, and can lock it: ${overlayObstacle()}`,
    );
  } else if (!(await allowsOwnDevices(isRoot))) {
    remarks.push(
      "code in a sandbox can notice when this machine opens /dev/null or another shared device, and can lock it: start as root, who may make device nodes for each sandbox",
    );
  }
  if (!hasSeccompFilter(process.arch))
    remarks.push(
      `there is no system call filter for ${process.arch}: code in a sandbox can make any system call`,
    );
  if (!dynamicLoader(process.execPath))
    remarks.push(
      "code in a sandbox can read its agent's memory, because this Node.js is statically linked: use a dynamically linked Node.js",
    );
  return {
    enforcement: [
      { limit: "memory", by: by("memory", "watchdog") },
      { limit: "processes", by: by("pids", "rlimit") },
      { limit: "cpu", by: by("cpu", "none") },
      { limit: "disk", by: "tmpfs" },
      { limit: "pause", by: by("freezer", "signal") },
    ],
    disks: diskCount(hasWritableRoot),
    remarks,
  };
}

/** Programs of the host that start machines, with the package of Debian that has each. */
const packages = { mount: "mount", nsenter: "util-linux", setpriv: "util-linux", unshare: "util-linux" };

/** The first of these programs that this process does not find, and what mends it. Undefined if all are there. */
function missingProgram(
  names: readonly (keyof typeof packages)[],
): readonly [reason: string, fix: string] | undefined {
  const name = names.find((one) => pathOf(one) === undefined);
  return name && [`${name} is not installed`, `install it with "apt-get install ${packages[name]}"`];
}

/** Where this process finds a program. */
function pathOf(program: string): string | undefined {
  const directories = (process.env.PATH ?? "/usr/bin:/bin").split(":");
  return directories.map((directory) => join(directory, program)).find((path) => existsSync(path));
}
