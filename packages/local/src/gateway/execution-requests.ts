import type { Server } from "node:http";
import { agentTarget } from "../agents/agent-target.js";

/** Paths of agents that run code or commands when a request is posted to them. */
const paths = new Set([
  "/execute",
  "/execute/rich",
  "/execute/ipython",
  "/execute/background",
  "/execute/async",
  "/commands/run",
  "/commands/background",
]);

/** Called when a request to run code or commands in a sandbox has ended. `cut`: the caller left, or the answer broke off. */
export type OnExecution = (path: string, outcome: "answered" | "refused" | "cut", seconds: number) => void;

/** Watches the requests to run code or commands in sandboxes. WebSockets are not among them. */
export function watchExecutions(server: Server, onExecution: OnExecution): void {
  server.on("request", (request, response) => {
    const path = agentTarget(request)?.path.split("?")[0] ?? "";
    if (request.method !== "POST" || !paths.has(path)) return;
    const began = performance.now();
    response.once("close", () => {
      const outcome = !response.writableFinished ? "cut" : response.statusCode < 300 ? "answered" : "refused";
      onExecution(path, outcome, (performance.now() - began) / 1000);
    });
  });
}
