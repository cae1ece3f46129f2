import { agentContract } from "@cloud-sandbox/protocol/agent-contract";
import { type Operation, Problem } from "@cloud-sandbox/protocol/server";
import type { AgentHandlers } from "./agent-handlers.js";

/** What is refused for a reason that callers can tell from an operation that nobody knows. */
export function unavailableHandlers(): AgentHandlers {
  return {
    ...refusing(
      ({ path }) => path.startsWith("/desktop"),
      () =>
        new Problem(
          400,
          "DESKTOP_NOT_AVAILABLE",
          "This sandbox has no desktop: its template is without one.",
        ),
    ),
    // An upgrade would not help: there is nothing behind it yet.
    ...refusing(
      ({ upgrade }) => upgrade === true,
      ({ path }) => new Problem(404, "NOT_FOUND", `This agent does not serve ${path}.`),
    ),
  };
}

function refusing(
  which: (operation: Operation) => boolean,
  problem: (operation: Operation) => Problem,
): AgentHandlers {
  const refuse = (operation: Operation) => () => {
    throw problem(operation);
  };
  const operations = agentContract.operations.filter(which);
  return Object.fromEntries(operations.map((operation) => [operation.operationId, refuse(operation)]));
}
