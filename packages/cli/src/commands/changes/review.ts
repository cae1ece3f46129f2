import type { AppliedChange, Sandbox, SandboxChange } from "cloud-sandbox";
import type { Call } from "../../command-line/action.js";
import { printable } from "../../output/printable.js";
import type { Column } from "../../output/table.js";

export const changeColumns: readonly Column<SandboxChange>[] = [
  { title: "PATH", value: ({ path }) => path, isWhole: true },
  { title: "CHANGE", value: changeOf },
  { title: "TYPE", value: ({ type, target }) => (target === undefined ? type : `link to ${target}`) },
  { title: "SIZE", value: ({ size }) => size },
  { title: "MIND", value: mind },
];

function changeOf({ kind, entries, skipped }: SandboxChange): string {
  if (skipped) return `${kind}, ${skipped} in it are left out: their paths are too long`;
  return entries ? `${kind}, with ${entries} in it` : kind;
}

/** What a person should know before the change is applied. */
function mind({ runs, versionControl, type }: SandboxChange): string | undefined {
  if (versionControl) return "version control";
  if (type === "other") return "cannot be applied";
  return runs ? "may run by itself" : undefined;
}

/** Options of commands that apply changes. */
export interface ApplyOptions {
  readonly yes?: boolean;
  readonly check?: boolean;
}

/** Seconds that the sandbox has left at least while a person reads what changed. */
const leastSeconds = 600;

/** Keeps the sandbox from its deadline, and from sleep, until `work` is done. */
async function whileKept<Value>(sandbox: Sandbox, work: () => Promise<Value>): Promise<Value> {
  const alive = sandbox.keepAlive({ seconds: leastSeconds });
  // It is kept while it is used, and a person who reads uses nothing.
  const use = setInterval(() => void sandbox.files.exists("/").catch(() => undefined), 60_000);
  try {
    return await work();
  } finally {
    clearInterval(use);
    alive.stop();
  }
}

/** What became of changes. */
interface Review {
  readonly applied: readonly AppliedChange[];
  /** Changes of the version control, which nobody named. */
  readonly leftOut: number;
}

/** Whether all changes that were to be applied are. */
export const isWhole = ({ applied }: Review): boolean => applied.every(({ status }) => status === "applied");

/** Longer than a server writes at most, so that what it says of each file is not lost. */
const applySeconds = 180;

/**
 * Shows changes on standard error, asks whether to apply them, and does. Changes of the version control are applied only if they are
 * named.
 */
export async function reviewAndApply(
  { options, output, signal }: Pick<Call<ApplyOptions>, "options" | "output" | "signal">,
  sandbox: Sandbox,
  { named, since }: { readonly named?: ReadonlySet<string>; readonly since?: string | undefined },
): Promise<Review> {
  // Refused if there is no copy of a directory, before anybody reviews changes that cannot be applied.
  await sandbox.apply({ paths: [], since, check: true, signal });
  const all = await sandbox.changes({ since, signal });
  const isWanted = ({ path, versionControl }: SandboxChange): boolean =>
    named === undefined ? !versionControl : named.has(path);
  const changes = all.filter(isWanted);
  const leftOut = named === undefined ? all.length - changes.length : 0;
  if (leftOut > 0)
    output.note(
      `${leftOut} changes of the version control are left out: they are applied only if "cloud-sandbox apply" names their paths.`,
    );
  const known = new Set(changes.map(({ path }) => path));
  const others = [...(named ?? [])].filter((path) => !known.has(path));
  if (changes.length + others.length === 0) {
    if (leftOut === 0) output.note("nothing has changed.");
    return { applied: [], leftOut };
  }
  for (const change of changes) {
    const remark = mind(change);
    output.note(`${changeOf(change)} ${printable(change.path)}${remark === undefined ? "" : ` (${remark})`}`);
  }
  const reviewed = changes.map((change) => ({ ...change, control: named !== undefined }));
  const paths = [...reviewed, ...others];
  const call = { signal, requestTimeoutSeconds: applySeconds };
  const apply = () => sandbox.apply({ paths, since, check: options.check, ...call });
  const ask = async (): Promise<void> => {
    const { confirm } = await import("../../mcp/confirm.js");
    await confirm(`Apply ${changes.length} changes to the directory?`, false, signal);
  };
  const isAsked = options.check !== true && options.yes !== true;
  const applied = isAsked ? await whileKept(sandbox, () => ask().then(apply)) : await apply();
  for (const outcome of applied) tell(outcome, output);
  return { applied, leftOut };
}

function tell({ path, status, reason, note }: AppliedChange, output: Call<object>["output"]): void {
  if (status !== "applied") output.warn(`${path} is not applied (${status}): ${reason}.`);
  else if (note !== undefined) output.note(`${printable(path)}: ${note}.`);
}
