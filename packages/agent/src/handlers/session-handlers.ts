import type { Contexts } from "../execution/contexts/contexts.js";
import { type AgentHandlers, now } from "./agent-handlers.js";

export function sessionHandlers(contexts: Contexts) {
  return {
    listJupyterSessions() {
      const sessions = contexts.list().map(({ id, name, language, isBusy, pending, lastActivity }) => ({
        kernel_id: id,
        execution_state: isBusy ? "busy" : "idle",
        connections: pending,
        last_activity: lastActivity.toISOString(),
        language,
        context: name,
      }));
      return { sessions, count: sessions.length, timestamp: now() };
    },
  } satisfies AgentHandlers;
}
