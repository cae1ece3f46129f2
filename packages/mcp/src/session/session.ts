/** One client of this server: the sandboxes it knows, and its calls that are under way. */
import type { SandboxClient } from "cloud-sandbox";
import { BackendError } from "../errors/backend-error.js";
import type { Maker } from "../ownership/created-sandboxes.js";
import { NamedSandboxes } from "../ownership/named-sandboxes.js";
import { SandboxDirectory } from "../ownership/sandbox-directory.js";
import type { Answer } from "../results/answer.js";
import type { Environment } from "../settings/environment.js";
import type { ToolContext } from "../tools/definition/tool.js";
import type { SharedBackend } from "./shared-backend.js";

type Caller = Pick<ToolContext, "signal" | "report" | "offered">;

/** What work for a client is given, whichever call of it this is. */
export type SessionContext = Omit<ToolContext, keyof Caller>;

export class Session implements Maker {
  readonly holder: string;
  readonly #backend: SharedBackend;
  readonly #named = new NamedSandboxes();
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #listeners = new Set<() => void>();
  readonly #calls = new Set<AbortController>();
  #directory: { readonly client: SandboxClient; readonly sandboxes: SandboxDirectory } | undefined;

  /** The holder is whose token the client sends; "" where no token is asked for. */
  constructor(backend: SharedBackend, holder = "") {
    this.#backend = backend;
    this.holder = holder;
  }

  /** The server's own environment variables. */
  get environment(): Environment {
    return this.#backend.environment;
  }

  get isBusy(): boolean {
    return this.#underWay.size > 0;
  }

  /** Whether the client has sandboxes that it calls by name, which it could not any more once it is forgotten. */
  get hasNames(): boolean {
    return this.#named.names().length > 0;
  }

  /** Does what a call asks for. Its failure is thrown as it is; a call that was stopped fails with a {@link BackendError}. */
  async call(
    work: (context: ToolContext) => Promise<Answer>,
    { signal: left, ...caller }: Caller,
  ): Promise<Answer> {
    const call = new AbortController();
    this.#calls.add(call);
    const stopped = new Promise<never>((_, reject) => {
      call.signal.addEventListener("abort", () => reject(new BackendError(ending)));
    });
    const signal = AbortSignal.any([left, call.signal]);
    const underWay = this.use((context) => work({ ...context, ...caller, signal }));
    try {
      return await Promise.race([underWay, stopped]);
    } finally {
      this.#calls.delete(call);
    }
  }

  /** Does a piece of work for the client, with the backend open; its failure is thrown as it is. */
  use<Result>(work: (context: SessionContext) => Promise<Result>): Promise<Result> {
    const underWay = this.#use(work);
    this.#underWay.add(underWay);
    return underWay.finally(() => this.#underWay.delete(underWay));
  }

  /** Calls `listener` whenever a sandbox of the client comes or goes, until the returned function is called. */
  onSandboxesChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Stops the calls of tools that are under way, because the server ends. */
  stopCalls(): void {
    for (const call of this.#calls) call.abort();
  }

  /** Waits for the calls under way, whose caller has left. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#underWay);
  }

  /** The client has said that it leaves: what it made is deleted. */
  async end(): Promise<void> {
    await this.settled();
    await this.#backend.deleteSandboxesOf(this);
  }

  /** The client has not been heard of for long: what others can call lives as long as it was promised. */
  async abandon(): Promise<void> {
    await this.#backend.forget(this);
  }

  async #use<Result>(work: (context: SessionContext) => Promise<Result>): Promise<Result> {
    const { client } = await this.#backend.open();
    // A backend that was opened anew knows none of the sandboxes of the one before.
    if (this.#directory?.client !== client) {
      const sandboxes = new SandboxDirectory(client, this.#backend.created, this);
      sandboxes.onChange(() => {
        for (const listener of this.#listeners) listener();
      });
      this.#directory = { client, sandboxes };
    }
    const { sandboxes } = this.#directory;
    const { environment, runs } = this.#backend;
    return work({ client, sandboxes, named: this.#named, runs, environment });
  }
}

const ending = "The server is ending, so the call was stopped. Call again once the server runs again.";
