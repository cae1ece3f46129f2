/** Finds the sandbox that a call names, among those that its client may use, and records those that the client makes. */
import type { Sandbox, SandboxClient } from "cloud-sandbox";
import { InvalidArgumentsError } from "../errors/invalid-arguments-error.js";
import type { Owner, SandboxLedger } from "./sandbox-ledger.js";

/** Sandboxes kept in memory. The service is asked again for one beyond them. */
const mostKnown = 500;

/** Milliseconds after its deadline at which a sandbox is looked at, and after which one that still exists is looked at again. */
const graceMs = 1_000;
const lookAgainMs = 30_000;
/** The longest delay of a timer. A look before the deadline sets the timer again. */
const longestTimer = 2_147_483_647;

export interface GivenReference {
  readonly sandbox_id?: string | undefined;
  readonly vm_url?: string | undefined;
}

export class SandboxDirectory {
  readonly #client: SandboxClient;
  readonly #known = new Map<string, Sandbox>();
  readonly #deadlines = new Map<string, NodeJS.Timeout>();
  readonly #created: SandboxLedger;
  /** The client of this server, as the ledger knows it. */
  readonly #owner: Owner;
  readonly #listeners = new Set<() => void>();

  constructor(client: SandboxClient, created: SandboxLedger, owner: Owner) {
    this.#client = client;
    this.#created = created;
    this.#owner = owner;
  }

  /** The sandbox that a call names by its id, or by the URL of its agent. No request goes to a URL that a call gave. */
  async find({ sandbox_id: id, vm_url: url }: GivenReference, signal: AbortSignal): Promise<Sandbox> {
    if (id !== undefined) {
      this.requireOwn(id);
      return this.#known.get(id) ?? this.#remember(await this.#client.sandboxes.get(id, { signal }));
    }
    if (url !== undefined) return this.#findByUrl(url, signal);
    throw new InvalidArgumentsError(
      "sandbox_id is required: create_sandbox makes a sandbox, list_sandboxes shows those that exist.",
    );
  }

  /** Whether the account has such a sandbox. */
  async has(id: string, signal: AbortSignal): Promise<boolean> {
    return (await this.#client.sandboxes.get(id, { signal }).catch(unlessUnknown)) !== undefined;
  }

  /** Whether the client may use a sandbox: not when another client of this server made it. */
  isOwn(id: string): boolean {
    return !this.#created.isOfAnother(id, this.#owner);
  }

  /** Throws the same error for another client's sandbox as for one that never existed, so that ids cannot be guessed. */
  requireOwn(id: string): void {
    if (this.isOwn(id)) return;
    throw new InvalidArgumentsError(
      `Sandbox ${id} was not found. list_sandboxes shows the sandboxes that exist; create_sandbox makes one.`,
    );
  }

  /** The sandboxes that the client made or used, the latest last. Their status may be out of date. */
  known(): readonly Sandbox[] {
    return [...this.#known.values()];
  }

  /** Calls `listener` whenever the client has made a sandbox or deleted one, and when one that it knows has ended. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /**
   * A sandbox that the client has made, which is deleted when the client leaves or this server ends. One that only this client
   * can call is deleted when the client is forgotten, too.
   */
  adopt(sandbox: Sandbox, { isLeased = false } = {}): void {
    this.#created.add(sandbox.id, this.#owner, isLeased);
    this.#remember(sandbox);
    for (const listener of this.#listeners) listener();
  }

  /** Forgets a sandbox that is gone. */
  forget(id: string): void {
    const wasKnown = this.#known.delete(id);
    this.#stopWaiting(id);
    this.#created.delete(id);
    if (wasKnown) for (const listener of this.#listeners) listener();
  }

  /** Sets the deadline of a sandbox anew. */
  setDeadline(id: string, deadline: Date | undefined): void {
    this.#stopWaiting(id);
    if (deadline === undefined || !this.#known.has(id)) return;
    const wait = Math.min(Math.max(deadline.getTime() - Date.now(), 0) + graceMs, longestTimer);
    this.#deadlines.set(id, setTimeout(() => void this.#lookAt(id), wait).unref());
  }

  /** Asks for the deadline again, which others may have moved. When the service cannot be asked, the sandbox stays known. */
  async #lookAt(id: string): Promise<void> {
    try {
      const sandbox = await this.#client.sandboxes.get(id).catch(unlessUnknown);
      if (sandbox === undefined) return this.forget(id);
      const deadline = Math.max(sandbox.expiresAt?.getTime() ?? 0, Date.now() + lookAgainMs);
      this.setDeadline(id, sandbox.expiresAt && new Date(deadline));
    } catch {
      this.#stopWaiting(id);
    }
  }

  #stopWaiting(id: string): void {
    clearTimeout(this.#deadlines.get(id));
    this.#deadlines.delete(id);
  }

  async #findByUrl(given: string, signal: AbortSignal): Promise<Sandbox> {
    const url = normalise(given);
    for (const sandbox of this.#known.values()) if (isAgentOf(sandbox, url)) return sandbox;
    for (const id of idsIn(url)) {
      const sandbox = await this.#client.sandboxes.get(id, { signal }).catch(unlessUnknown);
      if (sandbox !== undefined && this.isOwn(id) && isAgentOf(sandbox, url)) return this.#remember(sandbox);
    }
    throw new InvalidArgumentsError(
      "vm_url is not the agent of a sandbox of this account, so nothing was sent to it. Give sandbox_id instead; list_sandboxes shows those that exist.",
    );
  }

  #remember(sandbox: Sandbox): Sandbox {
    // A sandbox that is starting has no address yet, so it is looked up again.
    if (sandbox.publicHost === undefined) return sandbox;
    this.#known.delete(sandbox.id);
    this.#known.set(sandbox.id, sandbox);
    const [oldest] = this.#known.keys();
    if (this.#known.size > mostKnown && oldest !== undefined) {
      this.#known.delete(oldest);
      this.#stopWaiting(oldest);
    }
    this.setDeadline(sandbox.id, sandbox.expiresAt);
    return sandbox;
  }
}

/** An id that the account does not have is undefined. Every other error is the call's failure. */
function unlessUnknown(error: unknown): undefined {
  if (error instanceof Error && ["NotFoundError", "SandboxExpiredError"].includes(error.name))
    return undefined;
  throw error;
}

function isAgentOf({ publicHost }: Sandbox, url: string): boolean {
  return publicHost !== undefined && normalise(publicHost) === url;
}

/** Scheme, host and path, without a slash at the end. */
function normalise(text: string): string {
  const given = /^[a-z]+:\/\//i.test(text) ? text : `https://${text}`;
  if (!URL.canParse(given)) return "";
  const { origin, pathname } = new URL(given);
  return origin + pathname.replace(/(?<!\/)\/+$/, "");
}

/** The parts of a URL that may be a sandbox's id: `https://7777-<id>.<region>.…` of clouds, `http://…/agent/<id>` of the local backend. */
function idsIn(url: string): string[] {
  const inHost = /^https?:\/\/(?:\d+-)?([a-z0-9]+)\./i.exec(url)?.[1];
  const inPath = /\/([A-Za-z0-9_-]+)$/.exec(url)?.[1];
  return [inPath, inHost].filter((id) => id !== undefined);
}
