import type { Operation } from "../../contract/contract.js";
import { Problem } from "../../http/problem.js";

/** Why an operation that nobody handles is refused, where callers can be told more than that it is not there. */
export function unavailable({ path, upgrade }: Operation): Problem | undefined {
  if (path.startsWith("/desktop"))
    return new Problem(
      400,
      "DESKTOP_NOT_AVAILABLE",
      "This sandbox has no desktop: its template is without one.",
    );
  if (path.startsWith("/update"))
    return new Problem(
      403,
      "PERMISSION_DENIED",
      "A sandbox's agent is as old as the sandbox and is not replaced.",
      { hint: "Create a new sandbox to get a newer one." },
    );
  // An upgrade would not help: there is nothing behind it yet.
  if (upgrade) return new Problem(404, "NOT_FOUND", `This agent does not serve ${path}.`);
  return undefined;
}
