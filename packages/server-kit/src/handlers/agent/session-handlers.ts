import type { AgentSchemas } from "@cloud-sandbox/protocol";
import { Problem } from "../../http/problem.js";
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

interface KeptContexts<Context extends KeptContext> {
  list(): readonly Context[];
  /** Ends the execution that runs in a context, and forgets its variables. */
  restart(context: Context): Promise<void>;
  /** Ends a context. */
  remove(context: Context): Promise<void>;
}

export function sessionHandlers<Context extends KeptContext>(contexts: KeptContexts<Context>) {
  function find(id: string): Context {
    const context = contexts.list().find((other) => other.id === id);
    if (context) return context;
    throw new Problem(404, "CONTEXT_NOT_FOUND", `No context has the id ${JSON.stringify(id)}.`, {
      hint: "List the contexts to see those that have an interpreter.",
    });
  }
  return {
    listJupyterSessions() {
      const sessions = contexts.list().map(onWire);
      return { sessions, count: sessions.length, timestamp: now() };
    },

    async restartJupyterSession({ params }) {
      const context = find(params.kernel_id);
      await contexts.restart(context);
      return onWire(context);
    },

    async deleteJupyterSession({ params }) {
      const context = find(params.kernel_id);
      const session = onWire(context);
      await contexts.remove(context);
      return session;
    },
  } satisfies AnyAgentHandlers;
}

const onWire = (context: KeptContext): AgentSchemas["JupyterSession"] => ({
  kernel_id: context.id,
  execution_state: context.isBusy ? "busy" : "idle",
  connections: context.pending,
  last_activity: context.lastActivity.toISOString(),
  language: context.language,
  context: context.name,
});
