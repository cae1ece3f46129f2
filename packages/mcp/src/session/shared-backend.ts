/** The backend of all clients of one server: opened when it is first needed, closed when the server ends. */

import { IsolatedRuns } from "../ownership/isolated-runs.js";
import { type Owner, SandboxLedger } from "../ownership/sandbox-ledger.js";
import type { OtherServers } from "../servers/other-servers.js";
import type { Environment } from "../settings.js";
import { type Backend, type LocalOptions, openBackend } from "./backend.js";

export interface SharedBackendOptions {
  readonly environment: Environment;
  /** The key of an account in the cloud. Default: what the environment says. */
  readonly apiKey?: string;
  readonly local?: LocalOptions | undefined;
  /** Whether to keep sandboxes when the server shuts down. Those in the cloud then stay until their deadlines. */
  readonly keepSandboxes?: boolean;
  /** Other people's MCP servers, if any may be used. */
  readonly servers?: OtherServers | undefined;
  readonly log: (line: string) => void;
}

export class SharedBackend {
  readonly environment: Environment;
  readonly ledger = new SandboxLedger();
  readonly runs = new IsolatedRuns();
  readonly servers: OtherServers | undefined;
  readonly #apiKey: string | undefined;
  readonly #local: LocalOptions | undefined;
  readonly #keepSandboxes: boolean;
  readonly #log: (line: string) => void;
  #backend: Promise<Backend> | undefined;
  /**
   * The last line that was logged. After a failure each call tries to open the backend again and would log the same
   * line.
   */
  #logged = "";

  constructor({ environment, apiKey, local, keepSandboxes = false, log, servers }: SharedBackendOptions) {
    this.environment = environment;
    this.#apiKey = apiKey;
    this.#local = local;
    this.#keepSandboxes = keepSandboxes;
    this.#log = log;
    this.servers = servers;
  }

  /** Opens the backend before the first call needs it. */
  warmUp(): void {
    // An error is not reported here: the first call that needs the backend opens it again and reports the error.
    this.open().catch(() => undefined);
  }

  /** Opens the backend once. After a failure, the next call tries again. */
  open(): Promise<Backend> {
    this.#backend ??= openBackend(this.#local, (line) => this.#logOnce(line), this.#apiKey).then(
      (backend) => {
        this.#logOnce(backend.description);
        return backend;
      },
      (error: unknown) => {
        this.#backend = undefined;
        this.#logOnce(`no backend: ${error instanceof Error ? error.message : "it could not be opened"}`);
        throw error;
      },
    );
    return this.#backend;
  }

  /** Deletes the sandboxes that one client made. One that cannot be deleted ends at its deadline. */
  async deleteSandboxesOf(client: Owner): Promise<void> {
    if (this.#keepSandboxes) return this.ledger.release(client);
    await this.#delete(this.ledger.take(client));
  }

  /** Deletes the leased sandboxes of a client, which nobody else can call. Its others live until their deadlines. */
  async forget(client: Owner): Promise<void> {
    const held = this.ledger.takeLeased(client);
    this.ledger.release(client);
    await this.#delete(held);
  }

  /** Deletes the sandboxes of all clients, and closes the backend. */
  async close(): Promise<void> {
    const backend = await this.#backend?.catch(() => undefined);
    if (backend === undefined) return;
    if (this.#keepSandboxes || !backend.endsItsSandboxes) await this.servers?.close();
    if (!this.#keepSandboxes && !backend.endsItsSandboxes) await this.#delete(this.ledger.take());
    await backend.close();
  }

  async #delete(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    const { client } = await this.open();
    await Promise.allSettled(ids.map((id) => client.sandboxes.delete(id)));
  }

  #logOnce(line: string): void {
    if (line !== this.#logged) this.#log(line);
    this.#logged = line;
  }
}
