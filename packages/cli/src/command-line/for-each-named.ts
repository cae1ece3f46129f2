import { CommandError } from "../errors/command-error.js";
import { explain } from "../errors/explain-error.js";
import type { Call } from "./action.js";

/**
 * Calls `work` for each thing that the command line names. A thing that is refused is reported, and does not keep the others from
 * their turn. Throws the last refusal, and at once a failure that the others would meet too.
 */
export async function forEachNamed<Named>(
  all: readonly Named[],
  { output, signal }: Pick<Call<object>, "output" | "signal">,
  work: (named: Named) => Promise<void>,
): Promise<void> {
  const refusals: unknown[] = [];
  for (const named of all) {
    try {
      await work(named);
    } catch (error) {
      if (signal.aborted || !isAboutOne(error)) throw error;
      refusals.push(error);
    }
  }
  const last = refusals.pop();
  for (const each of refusals) output.problem(explain(each));
  if (last !== undefined) throw last;
}

function isAboutOne(error: unknown): boolean {
  const { status = 0 } = Object(error) as { status?: number };
  return error instanceof CommandError || (status >= 400 && status < 500 && ![401, 429].includes(status));
}
