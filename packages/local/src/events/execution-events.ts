import { randomUUID } from "node:crypto";
import type { IncomingMessage, Server } from "node:http";
import { bearerToken, type EventFacts, type EventType } from "@cloud-sandbox/server-kit/handlers";
import pLimit from "p-limit";
import { type AgentTarget, agentTarget } from "../agents/agent-target.js";
import { stopOfMany } from "../relay/stop-of-many.js";
import type { EventLog } from "../store/event-log.js";
import type { TokenOwners } from "../tokens/token-owners.js";
import type { ExecutionFollower } from "../webhooks/execution-follower.js";

type Kind = NonNullable<EventFacts["kind"]>;

/** Paths of agents that run what is posted to them, and answer when it has ended. */
const waited: Readonly<Record<string, Kind>> = {
  "/execute": "code",
  "/execute/rich": "code",
  "/execute/ipython": "code",
  "/commands/run": "command",
};
/** Paths of WebSockets that run one program each. */
const streamed: Readonly<Record<string, Kind>> = {
  "/execute/stream": "code",
  "/stream": "code",
  "/stream/ipython": "code",
  "/commands/stream": "command",
};
const background: ReadonlySet<string> = new Set(["/execute/background", "/commands/background"]);

/** Executions in the background whose ends are waited for at a time, and bytes of the answer that names one. */
const mostFollowed = 1000;
const longestStarted = 64 * 1024;

export interface ExecutionEventsParts {
  readonly events: EventLog;
  readonly follower: ExecutionFollower;
  readonly tokenOwners: Pick<TokenOwners, "of">;
  /** The API key of a sandbox. Undefined for the server's own key. */
  readonly keyOf: (sandboxId: string) => string | undefined;
}

interface OfExecution {
  readonly sandboxId?: string;
  readonly keyId: string | undefined;
  readonly id: string;
  readonly kind: Kind;
  readonly startedAt: Date;
}

/** Records when executions start and end. */
export class ExecutionEvents {
  readonly #stopped = stopOfMany();
  readonly #following = pLimit(mostFollowed);

  constructor(private readonly parts: ExecutionEventsParts) {}

  /** Records the executions that callers of this server wait for. */
  watch(server: Server): void {
    server.on("request", (request, response) => {
      const target = request.method === "POST" ? agentTarget(request) : undefined;
      const kind = waited[pathOf(target)];
      if (!target || kind === undefined || !this.#isAllowed(request, target)) return;
      const execution = this.#start(target.sandboxId, kind);
      response.once("close", () => {
        const outcome = !response.writableFinished
          ? "cut"
          : response.statusCode < 300
            ? "completed"
            : "refused";
        this.#end(execution, { outcome });
      });
    });
  }

  /** Records an execution that begins with an agent's answer, before that is passed on. */
  answered({ socket }: IncomingMessage, { sandboxId, path }: AgentTarget, answer: IncomingMessage): void {
    const [at = ""] = path.split("?");
    const kind = streamed[at];
    if (kind !== undefined && answer.statusCode === 101) {
      const execution = this.#start(sandboxId, kind);
      this.parts.events.flush();
      const end = (): void => this.#end(execution, { outcome: "completed" });
      if (socket.destroyed) end();
      else socket.once("close", end);
    }
    if (background.has(at) && answer.statusCode === 200) this.#inBackground(sandboxId, answer);
  }

  /** Records an execution in the background, which an agent's answer names. */
  #inBackground(sandboxId: string, answer: IncomingMessage): void {
    let text = "";
    const read = (chunk: Buffer): void => {
      text += chunk.toString("latin1");
      const id = executionIn(text);
      if (id !== undefined || text.length > longestStarted) answer.off("data", read);
      if (id === undefined) return;
      const execution = this.#start(sandboxId, "background", id);
      // The caller knows of it when this chunk is passed on.
      this.parts.events.flush();
      void this.#follow(execution);
    };
    answer.on("data", read);
  }

  /** Records a program without a sandbox. */
  async program<Result>(keyId: string | undefined, run: () => Promise<Result>): Promise<Result> {
    const execution: OfExecution = { keyId, id: newId(), kind: "program", startedAt: new Date() };
    this.#record(execution, "execution.started", {});
    try {
      const result = await run();
      this.#end(execution, { outcome: "completed" });
      return result;
    } catch (error) {
      this.#end(execution, { outcome: isRefusal(error) ? "refused" : "cut" });
      throw error;
    }
  }

  /** Ends what an earlier process left open. Executions in the background may go on. */
  resume(): void {
    const { events } = this.parts;
    const open = new Map<string, OfExecution>();
    const types = new Set<EventType>(["execution.started", "execution.ended"]);
    const all = { keyId: undefined, types };
    for (
      let last = 0, page = events.after(0, all, 1000);
      page.length > 0;
      page = events.after(last, all, 1000)
    )
      for (const { sequence, type, sandboxId, keyId, at, facts } of page) {
        last = sequence;
        const { execution_id: id = "", kind = "code" } = facts;
        const of = sandboxId === undefined ? {} : { sandboxId };
        const key = `${sandboxId} ${id}`;
        if (type === "execution.started") open.set(key, { ...of, keyId, id, kind, startedAt: at });
        else open.delete(key);
      }
    for (const execution of open.values()) {
      if (execution.kind === "background") void this.#follow(execution);
      // The webhooks follow asynchronous ones.
      else if (execution.kind !== "async") this.#end(execution, { outcome: "unknown" });
    }
  }

  close(): void {
    this.#stopped.abort();
  }

  /** Whether the agent will take the request: nobody else may make events of a sandbox. */
  #isAllowed({ headers }: IncomingMessage, { sandboxId }: AgentTarget): boolean {
    return this.parts.tokenOwners.of(bearerToken(headers.authorization))?.sandboxId === sandboxId;
  }

  #start(sandboxId: string, kind: Kind, id = newId()): OfExecution {
    const execution = { sandboxId, keyId: this.parts.keyOf(sandboxId), id, kind, startedAt: new Date() };
    this.#record(execution, "execution.started", {});
    return execution;
  }

  async #follow(execution: OfExecution): Promise<void> {
    const { sandboxId = "", id: executionId, startedAt: createdAt } = execution;
    const { signal } = this.#stopped;
    try {
      const { outcome, seconds, exitCode, reason } = await this.#following(() =>
        this.parts.follower.outcome({ sandboxId, executionId, createdAt }, signal),
      );
      this.#record(execution, "execution.ended", {
        outcome,
        duration_ms: Math.round(seconds * 1000),
        ...(exitCode !== undefined && { exit_code: exitCode }),
        ...(reason !== undefined && { reason }),
      });
    } catch {
      // This process ends: the next one follows the execution.
    }
  }

  #end(execution: OfExecution, facts: EventFacts): void {
    const duration_ms = Date.now() - execution.startedAt.getTime();
    this.#record(execution, "execution.ended", { ...facts, duration_ms });
  }

  /** It is written in this turn of the event loop, so before any answer that comes later. */
  #record({ sandboxId, keyId, id, kind }: OfExecution, type: EventType, facts: EventFacts): void {
    const event = { type, at: new Date(), sandboxId, keyId, facts: { execution_id: id, kind, ...facts } };
    this.parts.events.append(event);
  }
}

const pathOf = (target: AgentTarget | undefined): string => target?.path.split("?")[0] ?? "";

const newId = (): string => `exe_${randomUUID().replaceAll("-", "").slice(0, 16)}`;

/** The id in an agent's answer, which code in the sandbox may have written. */
const executionIn = (text: string): string | undefined =>
  /"(?:execution_id|process_id)"\s*:\s*"([\w.:-]{1,200})"/.exec(text)?.[1];

const isRefusal = (error: unknown): boolean => {
  const status = error instanceof Error && "status" in error ? Number(error.status) : 0;
  return status >= 400 && status < 500 && status !== 408;
};
