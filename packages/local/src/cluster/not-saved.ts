import { Problem } from "@cloud-sandbox/server-kit";
import { apiReason } from "./cluster-api.js";
import type { Lease } from "./lease.js";

const hint = "Call again in some seconds.";
const headers = { "retry-after": "2" };

/** The 503 problem for a request whose change cannot be saved in the cluster. */
export const notSaved = (reason: string, cause?: unknown): Problem =>
  new Problem(
    503,
    "SERVICE_UNAVAILABLE",
    `The change could not be saved in the cluster: ${reason}. Nothing was changed.`,
    {
      ...{ hint, headers, cause },
    },
  );

/** Throws the 503 problem if this server may not change records. */
export function requireHeld(lease: Lease): void {
  if (!lease.isHeld)
    throw notSaved("the API server does not answer, or another server has just begun to lead");
}

/**
 * Changes records while this server leads. What has been changed counts only if it still leads afterwards: the next leader reads
 * all records when it begins, and so has seen the change.
 */
export async function whileHeld<Result>(lease: Lease, change: () => Promise<Result>): Promise<Result> {
  requireHeld(lease);
  let result: Result;
  try {
    result = await change();
  } catch (error) {
    throw error instanceof Problem ? error : notSaved(apiReason(error), error);
  }
  requireHeld(lease);
  return result;
}
