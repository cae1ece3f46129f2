import { agentContract } from "@cloud-sandbox/protocol/agent-contract";
import { Problem } from "@cloud-sandbox/protocol/server";
import type { AgentHandlers } from "./agent-handlers.js";

/** No template has a desktop, and callers can tell that from an operation that does not exist. */
export function desktopHandlers(): AgentHandlers {
  const refuse = () => {
    throw new Problem(
      400,
      "DESKTOP_NOT_AVAILABLE",
      "This sandbox has no desktop: its template is without a graphical environment.",
    );
  };
  const operations = agentContract.operations.filter(({ path }) => path.startsWith("/desktop/"));
  return Object.fromEntries(operations.map(({ operationId }) => [operationId, refuse]));
}
