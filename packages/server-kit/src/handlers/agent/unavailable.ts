import { Problem } from "../../http/problem.js";
import type { Operation } from "../../router/contract.js";

/** The refusal of an operation without a handler. Undefined if the default refusal says enough. */
export function unavailable({ path, upgrade }: Operation): Problem | undefined {
  if (path.startsWith("/desktop"))
    return new Problem(
      400,
      "DESKTOP_NOT_AVAILABLE",
      "This sandbox has no desktop, because its template has none.",
      { hint: "Create one from a template with a desktop, such as desktop." },
    );
  if (path.startsWith("/update"))
    return new Problem(403, "PERMISSION_DENIED", "The agent of a sandbox cannot be updated.", {
      hint: "Create a new sandbox to get a newer agent.",
    });
  // A WebSocket without a handler is refused with 404 and not with the default advice to connect with an upgrade,
  // which would fail as well.
  if (upgrade)
    return new Problem(
      404,
      "NOT_FOUND",
      `This agent does not serve ${path}. GET /info lists what it serves.`,
    );
  return undefined;
}
