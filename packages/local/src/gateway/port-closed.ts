import { Problem } from "@cloud-sandbox/server-kit";
import { agentUnreadable } from "./refusal.js";

/** The problem for a port that the agent did not open. The agent's own text is not shown, because code in the sandbox may have written it. */
export function portClosed(port: number, status: number | undefined): Problem {
  switch (status) {
    case 401: {
      const message = "The token belongs to no sandbox or to another one, or has expired.";
      return new Problem(401, "INVALID_TOKEN", message, {
        hint: "Get this sandbox's token from the control plane.",
        headers: { "www-authenticate": "Bearer" },
      });
    }
    case 404: {
      const message = `Nothing listens on port ${port} of this sandbox.`;
      return new Problem(404, "PORT_NOT_LISTENING", message, {
        hint: "Start a server on the port, or check which port the server uses.",
        details: { port },
      });
    }
    case 403:
      return new Problem(
        403,
        "PORT_NOT_ALLOWED",
        `Port ${port} belongs to the sandbox's agent. Let your server listen on another port.`,
      );
    case 429: {
      const message = "Too many connections to ports of this sandbox are open.";
      return new Problem(429, "RESOURCE_EXHAUSTED", message, {
        hint: "Close some connections to ports of the sandbox first.",
        headers: { "retry-after": "1" },
      });
    }
    default:
      return agentUnreadable();
  }
}
