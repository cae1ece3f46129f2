/** All servers of other people that run here. Limits their number: the one unused for longest ends to make room. */
import type { McpServerConfiguration } from "cloud-sandbox-mcp-runner/configuration";
import { ServerFailure } from "../errors/errors.js";
import type { Environment } from "../settings.js";
import { ClientServers } from "./client-servers.js";
import type { ListSource, ServerOwner, ServerRegistry, StartServer } from "./server-registry.js";
import type { ServerSlot } from "./server-slot.js";

export interface OtherServersOptions {
  /** The servers that may be used, in the order in which they are listed. */
  readonly configurations: readonly McpServerConfiguration[];
  readonly start: StartServer;
  readonly environment: Environment;
  /** The most servers that run for one client. */
  readonly mostOfClient?: number;
  /** The most servers that run. */
  readonly most?: number;
}

export class OtherServers implements ServerRegistry {
  readonly configurations: readonly McpServerConfiguration[];
  readonly environment: Environment;
  readonly start: StartServer;
  readonly #mostOfClient: number;
  readonly #most: number;
  readonly #slots = new Set<ServerSlot>();
  readonly #listeners = new Set<(server: string, source: ListSource) => void>();

  constructor({ configurations, environment, most = 32, mostOfClient = 8, start }: OtherServersOptions) {
    this.configurations = configurations;
    this.environment = environment;
    this.start = start;
    this.#most = most;
    this.#mostOfClient = mostOfClient;
  }

  /** The servers of one client, of which none runs yet. */
  forClient(owner: ServerOwner): ClientServers {
    return new ClientServers(this, owner);
  }

  /** Calls `listener` when a server reports that its tools, prompts or resources have changed. */
  onListChange(listener: (server: string, source: ListSource) => void): void {
    this.#listeners.add(listener);
  }

  listsChanged(server: string, source: ListSource): void {
    for (const listener of this.#listeners) listener(server, source);
  }

  add(slot: ServerSlot): void {
    const ofClient = [...this.#slots].filter(({ owner }) => owner === slot.owner);
    if (ofClient.length >= this.#mostOfClient) makeRoom(ofClient, `${this.#mostOfClient} for one client`);
    if (this.#slots.size >= this.#most) makeRoom([...this.#slots], `${this.#most}`);
    this.#slots.add(slot);
  }

  delete(slot: ServerSlot): void {
    this.#slots.delete(slot);
  }

  /** Ends all servers. */
  async close(): Promise<void> {
    await Promise.allSettled([...this.#slots].map((slot) => slot.close()));
  }
}

function makeRoom(slots: readonly ServerSlot[], limit: string): void {
  const [idle] = slots.filter(({ isBusy }) => !isBusy).sort((one, other) => one.usedAt - other.usedAt);
  if (idle === undefined)
    throw new ServerFailure(
      `No other server can be started now: ${slots.length} are at work, and at most ${limit} may run. Call again when one of the calls has ended.`,
    );
  // Do not wait for its end: it no longer counts, and its sandbox is deleted in the background.
  idle.close().catch(() => undefined);
}
