import { Problem } from "@cloud-sandbox/server-kit";
import type { RequestedEgress } from "@cloud-sandbox/server-kit/handlers";
import { DestinationPattern } from "./destination-pattern.js";
import type { EgressRules } from "./egress-policy.js";

/** The rules that a create request asks for. @throws a 400 problem that names an invalid entry. */
export function egressRules({ internetAccess, allow, deny }: RequestedEgress): EgressRules {
  if (!internetAccess && (allow ?? deny) !== undefined) {
    const message = "egress limits internet access, but internet_access is false.";
    throw new Problem(400, "INVALID_REQUEST", message, {
      hint: "Set internet_access to true, or leave egress out.",
    });
  }
  return { internetAccess, allow: patterns("allow", allow), deny: patterns("deny", deny) };
}

function patterns(
  list: "allow" | "deny",
  entries: readonly string[] | undefined,
): readonly DestinationPattern[] | undefined {
  return entries?.map((entry, index) => {
    const pattern = DestinationPattern.parse(entry);
    if (pattern) return pattern;
    const message = `egress.${list}[${index}] is not a valid destination.`;
    throw new Problem(400, "INVALID_REQUEST", message, {
      hint: "Write a name (pypi.org), all names below one (*.npmjs.org), an address or a range (203.0.113.0/24), and append :port to mean only that port.",
    });
  });
}
