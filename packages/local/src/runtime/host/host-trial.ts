import { createHash } from "node:crypto";
import { readFileSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { forget, keptOrMade } from "./kept-bytes.js";

const prefix = "trial-";

/**
 * The result of `attempt`, which finds out what this host allows or has. Because that takes several processes, a result that
 * `isKept` accepts (by default, any that is true) is kept for this user's next starts, so a failure is always tried again.
 * A kept result holds for the same boot, the same rights and mounts of this process, the same `programs` (or other files), and
 * the same `about`. Nothing may rely on it for isolation: what a machine is made with has to fail where the host does not allow it.
 */
export async function tryOnce<Result>(
  name: string,
  { programs, about }: { readonly programs: readonly string[]; readonly about?: unknown },
  attempt: () => Promise<Result>,
  isKept: (result: Result) => boolean = Boolean,
): Promise<Result> {
  state ??= [String(builtAt()), ...hostState()];
  const known = [state, process.env.PATH, programs.map((program) => programState(program)), about];
  const digest = createHash("sha256").update(JSON.stringify(known)).digest("hex").slice(0, 32);
  let result: { readonly tried: Result } | undefined;
  const kept = await keptOrMade(`${prefix}${name}-${digest}`, async () => {
    result = { tried: await attempt() };
    return isKept(result.tried) ? Buffer.from(JSON.stringify(result)) : undefined;
  });
  result ??= JSON.parse(String(kept)) as { readonly tried: Result };
  return result.tried;
}

/** Forgets all results of {@link tryOnce}, so that the next calls try again. */
export function forgetTrials(): Promise<void> {
  state = undefined;
  return forget(prefix);
}

/** Changes with each build of this package: another build may try something else. */
function builtAt(): number {
  return statSync(fileURLToPath(import.meta.url)).mtimeMs;
}

/**
 * A trial's result holds while these are the same: the boot, this process's user and rights, and the settings for
 * namespaces.
 */
const stateFiles = [
  ...["sys/kernel/random/boot_id", "self/uid_map", "self/attr/current"],
  ...["sys/kernel/apparmor_restrict_unprivileged_userns", "sys/kernel/unprivileged_userns_clone"],
  "sys/user/max_user_namespaces",
];

/** Read with the first trial of this process, and again after {@link forgetTrials}. */
let state: readonly (string | undefined)[] | undefined;

function hostState(): readonly (string | undefined)[] {
  const status = readIfThere("self/status")?.match(/^(Uid|Gid|Groups|Cap\w+|NoNewPrivs|Seccomp):.*$/gm);
  return [
    process.execPath,
    process.arch,
    ...stateFiles.map(readIfThere),
    ...(readIfThere("self/mountinfo")?.split("\n").filter(concernsTrials) ?? []),
    ...(status ?? []),
  ];
}

/** Whether a line of the mount table is about a directory that trials use. Containers come and go in other directories. */
function concernsTrials(line: string): boolean {
  const directory = line.split(" ")[4] ?? "";
  return (
    directory === "/" ||
    directory === "/tmp" ||
    /^\/(usr|etc|s?bin|lib\w*|proc|sys|dev)(\/|$)/.test(directory)
  );
}

function readIfThere(name: string): string | undefined {
  try {
    return readFileSync(join("/proc", name), "utf8");
  } catch {
    return undefined;
  }
}

/** The file that a program's name or path leads to, as it is now. `path`: where a name is looked for. */
export function programState(
  program: string,
  path = process.env.PATH ?? "/usr/bin:/bin",
): readonly (number | string)[] {
  const directories = program.startsWith("/") ? [""] : path.split(":");
  for (const directory of directories) {
    const found = join(directory, program);
    const file = statIfAllowed(found);
    if (file?.isFile()) return [found, file.dev, file.ino, file.size, file.mtimeMs, file.ctimeMs];
  }
  return [];
}

/** The status of a file. Undefined if there is none, or if this user may not enter its directory. */
function statIfAllowed(path: string): Stats | undefined {
  try {
    // An error for each directory of the search path without the program would cost more than all else here.
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
