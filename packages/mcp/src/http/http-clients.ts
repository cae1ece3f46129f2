/** The clients that are served over HTTP: how many there can be, and when a silent one is forgotten. */
import { idleSeconds } from "../ownership/sandbox-directory.js";
import type { Session } from "../session/session.js";

export interface HttpClient {
  readonly session: Session;
  /** Cancels the client's calls and closes its streams. */
  disconnect(): Promise<void>;
}

export interface HttpClientsOptions {
  /** Clients at a time. */
  readonly most: number;
  /**
   * A client is forgotten after this long without a request or an open stream. One that has leased sandboxes is remembered for as
   * long as they live without being used.
   */
  readonly idleMs: number;
}

interface Entry<Client> {
  readonly client: Client;
  /** Requests and streams that are open. */
  open: number;
  lastSeen: number;
}

export class HttpClients<Client extends HttpClient> {
  readonly #options: HttpClientsOptions;
  /** In the order in which they were seen, the longest ago first. */
  readonly #entries = new Map<string, Entry<Client>>();
  readonly #sweeper: NodeJS.Timeout;

  constructor(options: HttpClientsOptions) {
    this.#options = options;
    this.#sweeper = setInterval(() => this.#sweep(), Math.min(options.idleMs, 60_000) / 2).unref();
  }

  get(key: string): Client | undefined {
    return this.#entries.get(key)?.client;
  }

  /** Makes room by forgetting the client that was silent longest. Returns false when no client is silent. */
  add(key: string, client: Client): boolean {
    if (this.#entries.size >= this.#options.most) {
      const silent = [...this.#entries].find(([, entry]) => isSilent(entry));
      if (silent === undefined) return false;
      this.#forget(...silent);
    }
    this.#entries.set(key, { client, open: 0, lastSeen: Date.now() });
    return true;
  }

  /** Counts a request of a client as open, until it is over. */
  note(key: string, over: Promise<void>): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    entry.open += 1;
    this.#seen(key, entry);
    void over.then(() => {
      entry.open -= 1;
      this.#seen(key, entry);
    });
  }

  /** The client says that it leaves: its calls are cancelled, and the sandboxes that it made are deleted. */
  async leave(key: string): Promise<void> {
    const client = this.get(key);
    this.#entries.delete(key);
    await client?.disconnect();
    await client?.session.end();
  }

  /** Stops all calls of tools. Their callers are told that the server ends. */
  stopCalls(): void {
    for (const { client } of this.#entries.values()) client.session.stopCalls();
  }

  /** Disconnects all clients, because the server ends. */
  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    const clients = [...this.#entries.values()].map(({ client }) => client);
    this.#entries.clear();
    await Promise.allSettled(clients.map((client) => client.disconnect()));
    await Promise.all(clients.map((client) => client.session.settled()));
  }

  #seen(key: string, entry: Entry<Client>): void {
    entry.lastSeen = Date.now();
    if (this.#entries.delete(key)) this.#entries.set(key, entry);
  }

  #sweep(): void {
    for (const [key, entry] of this.#entries) {
      const { idleMs } = this.#options;
      const patience = entry.client.session.hasNames ? Math.max(idleMs, idleSeconds * 1000) : idleMs;
      if (isSilent(entry) && entry.lastSeen + patience <= Date.now()) this.#forget(key, entry);
    }
  }

  #forget(key: string, { client }: Entry<Client>): void {
    this.#entries.delete(key);
    // Nobody waits for the result. A sandbox that cannot be deleted ends at its deadline.
    client.session.abandon().catch(() => undefined);
    client.disconnect().catch(() => undefined);
  }
}

function isSilent({ open, client }: Entry<HttpClient>): boolean {
  return open === 0 && !client.session.isBusy;
}
