/** One client of this server: its sandboxes and its running calls. */
import type { SandboxClient } from "cloud-sandbox";
import { BackendError } from "../errors/errors.js";
import { SandboxDirectory } from "../ownership/sandbox-directory.js";
import type { Owner } from "../ownership/sandbox-ledger.js";
import type { Answer } from "../results/answer.js";
import type { ClientServers } from "../servers/client-servers.js";
import type { Environment } from "../settings.js";
import type { ToolContext } from "../tools/definition/tool.js";
import type { SharedBackend } from "./shared-backend.js";

type Caller = Pick<ToolContext, "askUser" | "signal" | "report" | "log" | "offered" | "consent">;

/** The context of every piece of work for a client, which is a tool call or a read of a resource. */
export type SessionContext = Omit<ToolContext, keyof Caller>;

export class Session implements Owner {
  readonly tokenDigest: string;
  readonly #backend: SharedBackend;
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #listeners = new Set<() => void>();
  readonly #calls = new Set<AbortController>();
  #sandboxes: SandboxDirectory | undefined;
  #servers: ClientServers | undefined;

  /** `tokenDigest` is the digest of the token that the client sends; "" if this server needs no token. */
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

  /** Whether the client has named sandboxes. Once the client is forgotten, it cannot call them by these names. */
  get hasNames(): boolean {
    return (this.#sandboxes?.names().length ?? 0) > 0;
  }

  /**
   * Runs the handler of a tool call; its errors are thrown unchanged. A call that `stopCalls` cancels throws a {@link
   * BackendError}.
   */
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

  /** Opens the backend and runs `work` for the client. Errors of `work` are thrown unchanged. */
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

  /** Cancels all tool calls, because the server shuts down. */
  stopCalls(): void {
    for (const call of this.#calls) call.abort();
  }

  /** Called when no further calls come: ends other people's servers, and waits until no call is running. */
  async settled(): Promise<void> {
    await Promise.allSettled([...this.#underWay, this.#servers?.close()]);
  }

  /** Called when the client has disconnected for good: deletes the sandboxes that it created. */
  async end(): Promise<void> {
    await this.settled();
    await this.#backend.deleteSandboxesOf(this);
  }

  /**
   * Called when the client was silent for too long. Deletes its leased sandboxes; those that other clients can call
   * stay until their deadlines.
   */
  async abandon(): Promise<void> {
    await Promise.all([this.#servers?.close(), this.#backend.forget(this)]);
  }

  async #use<Result>(work: (context: SessionContext) => Promise<Result>): Promise<Result> {
    const { client } = await this.#backend.open();
    this.#sandboxes ??= this.#directory(client);
    const { environment, ledger, runs, servers } = this.#backend;
    this.#servers ??= servers?.forClient({ client, ledger });
    return work({ client, sandboxes: this.#sandboxes, servers: this.#servers, runs, environment });
  }

  #directory(client: SandboxClient): SandboxDirectory {
    const sandboxes = new SandboxDirectory(client, this.#backend.ledger, this);
    sandboxes.onChange(() => {
      for (const listener of this.#listeners) listener();
    });
    return sandboxes;
  }
}

const ending = "The server is shutting down, so the call was stopped. Call again once the server runs again.";
