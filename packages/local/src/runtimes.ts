import { BubblewrapRuntime } from "./runtime/bubblewrap/bubblewrap-runtime.js";
import type { RuntimeOptions } from "./runtime/runtime-options.js";
import type { RuntimeReport, SandboxRuntime } from "./runtime/sandbox-runtime.js";

/** All runtimes, in the order in which `auto` tries them. */
const runtimes = {
  bubblewrap: (options: RuntimeOptions): SandboxRuntime => new BubblewrapRuntime(options),
} as const;

export type RuntimeName = keyof typeof runtimes;

export const runtimeNames = Object.keys(runtimes) as readonly RuntimeName[];

/** The first runtime of `names` that can be used on this host, or why none can. */
export async function chooseRuntime(
  names: readonly RuntimeName[],
  options: RuntimeOptions,
): Promise<
  | { readonly runtime: SandboxRuntime; readonly report: Extract<RuntimeReport, { usable: true }> }
  | { readonly runtime: undefined; readonly reports: readonly RuntimeReport[] }
> {
  const reports: RuntimeReport[] = [];
  for (const name of names) {
    if (!Object.hasOwn(runtimes, name)) {
      reports.push(unknownRuntime(name));
      continue;
    }
    const runtime = runtimes[name](options);
    const report = await runtime.probe();
    if (report.usable) return { runtime, report };
    reports.push(report);
  }
  return { runtime: undefined, reports };
}

/** The report for an unknown runtime name, which callers without TypeScript can pass. */
function unknownRuntime(name: string): RuntimeReport {
  const fix = `use one of: auto, ${runtimeNames.join(", ")}`;
  return { runtime: name, usable: false, reason: `there is no runtime named ${JSON.stringify(name)}`, fix };
}

/** The reports of all runtimes: whether each can be used on this host. */
export function probeRuntimes(): Promise<RuntimeReport[]> {
  return Promise.all(runtimeNames.map((name) => runtimes[name]({}).probe()));
}
