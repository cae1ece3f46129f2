import { Problem } from "@cloud-sandbox/server-kit";
import { apiReason } from "./cluster-api.js";
import type { Term } from "./lease.js";

const hint = "Call again in some seconds.";
const headers = { "retry-after": "2" };

/** The 503 problem for a request whose change cannot be saved in the cluster. */
export const notSaved = (reason: string, cause?: unknown): Problem =>
  new Problem(
    503,
    "SERVICE_UNAVAILABLE",
    `The change could not be saved in the cluster: ${reason}. Nothing was changed.`,
    {
      hint,
      headers,
      cause,
    },
  );

/** Throws the 503 problem if this server may not change the records that it has read in a term. */
export function requireHeld(term: Pick<Term, "isHeld">): void {
  if (!term.isHeld)
    throw notSaved("the API server does not answer, or another server has just begun to lead");
}

/**
 * Changes records in a term. What has been changed counts only if the term lasts afterwards: the next leader reads all records
 * when it begins, and so has seen the change. A server that leads again has read them again, too: what it knew before is old.
 */
export async function whileHeld<Result>(
  term: Pick<Term, "isHeld">,
  change: () => Promise<Result>,
): Promise<Result> {
  requireHeld(term);
  let result: Result;
  try {
    result = await change();
  } catch (error) {
    throw error instanceof Problem ? error : notSaved(apiReason(error), error);
  }
  requireHeld(term);
  return result;
}
