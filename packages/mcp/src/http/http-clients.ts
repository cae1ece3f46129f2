/** The clients that are served over HTTP: how many there can be, and when a silent one is forgotten. */
import { idleSeconds } from "../ownership/sandbox-directory.js";
import type { Session } from "../session/session.js";

export interface HttpClient {
  /** The digest of the token with which it came; "" if this server needs no token. */
  readonly tokenDigest: string;
  readonly session: Session;
  /** Cancels the client's calls and closes its streams. */
  disconnect(): Promise<void>;
}

export interface HttpClientsOptions {
  /** The most clients at a time. */
  readonly most: number;
  /**
   * Milliseconds without a request or an open stream after which a client is forgotten. A client with leased sandboxes
   * is remembered for as long as those sandboxes live without being used.
   */
  readonly idleMs: number;
}

interface Entry<Client> {
  readonly client: Client;
  /** Number of the client's open requests and streams. */
  open: number;
  lastSeen: number;
}

export class HttpClients<Client extends HttpClient> {
  readonly #options: HttpClientsOptions;
  /** All clients in the order of their last request, the longest ago first. */
  readonly #entries = new Map<string, Entry<Client>>();
  readonly #sweeper: NodeJS.Timeout;

  constructor(options: HttpClientsOptions) {
    this.#options = options;
    this.#sweeper = setInterval(() => this.#sweep(), Math.min(options.idleMs, 60_000) / 2).unref();
  }

  get(key: string): Client | undefined {
    return this.#entries.get(key)?.client;
  }

  /**
   * Makes room by forgetting the client that was silent longest, among those of the token that has the most. A token that has more
   * than half of all gives one up to another token also if none of its clients is silent. Returns false when there is no room.
   */
  add(key: string, client: Client): boolean {
    if (this.#entries.size >= this.#options.most) {
      const counts = new Map<string, number>();
      for (const { client: each } of this.#entries.values())
        counts.set(each.tokenDigest, (counts.get(each.tokenDigest) ?? 0) + 1);
      const [[token, count] = ["", 0]] = [...counts].sort(([, one], [, other]) => other - one);
      const candidates = [...this.#entries].filter(([, entry]) => entry.client.tokenDigest === token);
      const mustYield = token !== client.tokenDigest && count > this.#options.most / 2;
      const ended =
        candidates.find(([, entry]) => isSilent(entry)) ?? (mustYield ? candidates[0] : undefined);
      if (ended === undefined) return false;
      this.#forget(...ended);
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

  /** Called when a client disconnects for good: cancels its calls and deletes the sandboxes that it made. */
  async leave(key: string): Promise<void> {
    const client = this.get(key);
    this.#entries.delete(key);
    await client?.disconnect();
    await client?.session.end();
  }

  /** Cancels all tool calls, because the server shuts down. Their callers get an error that says so. */
  stopCalls(): void {
    for (const { client } of this.#entries.values()) client.session.stopCalls();
  }

  /** Disconnects all clients, because the server shuts down. */
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
      const longestSilenceMs = entry.client.session.hasNames ? Math.max(idleMs, idleSeconds * 1000) : idleMs;
      if (isSilent(entry) && entry.lastSeen + longestSilenceMs <= Date.now()) this.#forget(key, entry);
    }
  }

  #forget(key: string, { client }: Entry<Client>): void {
    this.#entries.delete(key);
    // Ignore errors: a sandbox that cannot be deleted ends at its deadline.
    client.session.abandon().catch(() => undefined);
    client.disconnect().catch(() => undefined);
  }
}

function isSilent({ open, client }: Entry<HttpClient>): boolean {
  return open === 0 && !client.session.isBusy;
}
