import { createHash, randomBytes } from "node:crypto";
import type Docker from "dockerode";
import type { ContainerInfo } from "dockerode";
import { labels, removeOrphans, type ServerIdentity } from "./container-owner.js";

/** Milliseconds between two searches for orphans. A daemon that was killed may have left some. */
const sweepMs = 10_000;

/**
 * Knows the containers that one runtime uses. Finds those of the last server, and removes those that nobody uses any
 * more.
 */
export class OwnContainers implements ServerIdentity {
  readonly server = randomBytes(8).toString("hex");
  owner: string | undefined;
  readonly #used = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #last: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(
    private readonly open: () => Docker,
    private readonly log: (message: string) => void,
  ) {}

  /** The labels of a machine's container. */
  labelsOf(secret: string, owner: string | undefined): Record<string, string> {
    return {
      [labels.server]: this.server,
      [labels.sandbox]: sandboxLabel(secret),
      ...(owner !== undefined && { [labels.owner]: owner }),
    };
  }

  /** Keeps the container of that name from being removed as an orphan. Call it before the container exists. */
  use(name: string): void {
    this.#used.add(name);
  }

  /** If the container of that name is still there, it is now an orphan. */
  release(name: string): void {
    this.#used.delete(name);
  }

  uses(name: string): boolean {
    return this.#used.has(name);
  }

  /** The container of the machine with that secret. Undefined if there is none that runs. */
  async find(docker: Docker, secret: string): Promise<ContainerInfo | undefined> {
    const filters = { label: [`${labels.sandbox}=${sandboxLabel(secret)}`], status: ["running", "paused"] };
    const found = await docker.listContainers({ filters: JSON.stringify(filters) });
    // A sandbox that was stopped and started had one before, which may not be removed yet.
    return found.sort((a, b) => b.Created - a.Created)[0];
  }

  /** Removes containers that nobody uses, now and from time to time. */
  async sweep(): Promise<void> {
    clearTimeout(this.#timer);
    const sweeping = this.#last.then(() => this.#removeOrphans());
    this.#last = sweeping.catch(() => undefined);
    try {
      await sweeping;
    } finally {
      clearTimeout(this.#timer);
      if (!this.#isClosed)
        this.#timer = setTimeout(() => void this.sweep().catch(() => undefined), sweepMs).unref();
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#last;
  }

  async #removeOrphans(): Promise<void> {
    const count = await removeOrphans(this.open(), this);
    if (count > 0) this.log(`Containers that no server uses are removed: ${count}.`);
  }
}

const sandboxLabel = (secret: string): string =>
  createHash("sha256").update(`name ${secret}`).digest("hex").slice(0, 16);
