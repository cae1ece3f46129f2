import { type AnyAgentHandlers, now } from "./agent-handlers.js";

/** A context, which keeps variables between executions. */
export interface KeptContext {
  readonly id: string;
  readonly name: string;
  readonly language: string;
  readonly isBusy: boolean;
  /** Number of executions that run or wait in the context. */
  readonly pending: number;
  readonly lastActivity: Date;
}

export function sessionHandlers(contexts: { list(): readonly KeptContext[] }) {
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
  } satisfies AnyAgentHandlers;
}
