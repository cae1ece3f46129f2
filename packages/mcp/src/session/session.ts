/** One client of this server: its sandboxes, and its calls that are under way. */
import type { SandboxClient } from "cloud-sandbox";
import { BackendError } from "../errors/backend-error.js";
import { SandboxDirectory } from "../ownership/sandbox-directory.js";
import type { Owner } from "../ownership/sandbox-ledger.js";
import type { Answer } from "../results/answer.js";
import type { Environment } from "../settings/environment.js";
import type { ToolContext } from "../tools/definition/tool.js";
import type { SharedBackend } from "./shared-backend.js";

type Caller = Pick<ToolContext, "signal" | "report" | "offered">;

/** What every piece of work for a client is given: a call of a tool, or a read of a resource. */
export type SessionContext = Omit<ToolContext, keyof Caller>;

export class Session implements Owner {
  readonly tokenDigest: string;
  readonly #backend: SharedBackend;
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #listeners = new Set<() => void>();
  readonly #calls = new Set<AbortController>();
  #sandboxes: SandboxDirectory | undefined;

  /** `tokenDigest` is the digest of the token that the client sends; "" where no token is asked for. */
  constructor(backend: SharedBackend, tokenDigest = "") {
    this.#backend = backend;
    this.tokenDigest = tokenDigest;
  }

  /** The server's own environment variables. */
  get environment(): Environment {
    return this.#backend.environment;
  }

  get isBusy(): boolean {
    return this.#underWay.size > 0;
  }

  /** Whether the client has sandboxes with names. It could not call them any more once it is forgotten. */
  get hasNames(): boolean {
    return (this.#sandboxes?.names().length ?? 0) > 0;
  }

  /** Does the work of a tool's call. Its error is thrown as it is. A call that `stopCalls` stops throws a {@link BackendError}. */
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

  /** Opens the backend and does a piece of work for the client. An error of the work is thrown as it is. */
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

  /** Stops all calls of tools, because the server ends. */
  stopCalls(): void {
    for (const call of this.#calls) call.abort();
  }

  /** Waits until no call is under way. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#underWay);
  }

  /** The client said that it leaves: deletes the sandboxes that it made. */
  async end(): Promise<void> {
    await this.settled();
    await this.#backend.deleteSandboxesOf(this);
  }

  /** The client was silent for too long: sandboxes that others can call live until their deadlines, the rest is deleted. */
  async abandon(): Promise<void> {
    await this.#backend.forget(this);
  }

  async #use<Result>(work: (context: SessionContext) => Promise<Result>): Promise<Result> {
    const { client } = await this.#backend.open();
    this.#sandboxes ??= this.#directory(client);
    const { environment, runs } = this.#backend;
    return work({ client, sandboxes: this.#sandboxes, runs, environment });
  }

  #directory(client: SandboxClient): SandboxDirectory {
    const sandboxes = new SandboxDirectory(client, this.#backend.ledger, this);
    sandboxes.onChange(() => {
      for (const listener of this.#listeners) listener();
    });
    return sandboxes;
  }
}

const ending = "The server is ending, so the call was stopped. Call again once the server runs again.";
