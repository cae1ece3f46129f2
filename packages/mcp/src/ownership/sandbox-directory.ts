/** The sandboxes that one client may use: finds the one a call means, and notes which ones the client has made. */
import type { Sandbox, SandboxClient } from "cloud-sandbox";
import { InvalidArgumentsError } from "../errors/invalid-arguments-error.js";
import type { CreatedSandboxes, Maker } from "./created-sandboxes.js";

/** Sandboxes kept at hand; one beyond is looked up again when it is used. */
const mostKnown = 500;

/** Milliseconds after a deadline, until the sandbox should be gone; and until one that is not is looked at again. */
const graceMs = 1_000;
const lookAgainMs = 30_000;
/** What a timer holds. An early look finds the deadline, and waits again. */
const longestTimer = 2_147_483_647;

export interface GivenReference {
  readonly sandbox_id?: string | undefined;
  readonly vm_url?: string | undefined;
}

export class SandboxDirectory {
  readonly #client: SandboxClient;
  readonly #known = new Map<string, Sandbox>();
  readonly #deadlines = new Map<string, NodeJS.Timeout>();
  readonly #created: CreatedSandboxes;
  /** Stands for the client of this server in `created`. */
  readonly #owner: Maker;
  readonly #listeners = new Set<() => void>();

  constructor(client: SandboxClient, created: CreatedSandboxes, owner: Maker) {
    this.#client = client;
    this.#created = created;
    this.#owner = owner;
  }

  /** The sandbox a call names by its id, or by the URL of its agent. Nothing is ever sent to a URL that was given. */
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

  /** Whether the client may use a sandbox: it may not when another client of this server has made it. */
  isOwn(id: string): boolean {
    return !this.#created.isOfAnother(id, this.#owner);
  }

  /** Throws the same for another client's sandbox as for one that never was. */
  requireOwn(id: string): void {
    if (this.isOwn(id)) return;
    throw new InvalidArgumentsError(
      `Sandbox ${id} was not found. list_sandboxes shows the sandboxes that exist; create_sandbox makes one.`,
    );
  }

  /** The sandboxes that the client made or used, the latest last; what is known of each may be old. */
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
  adopt(sandbox: Sandbox, { isHeld = false } = {}): void {
    this.#created.add(sandbox.id, this.#owner, isHeld);
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

  /** Notes when a sandbox ends, in place of what was noted before. */
  setDeadline(id: string, deadline: Date | undefined): void {
    this.#stopWaiting(id);
    if (deadline === undefined || !this.#known.has(id)) return;
    const wait = Math.min(Math.max(deadline.getTime() - Date.now(), 0) + graceMs, longestTimer);
    this.#deadlines.set(id, setTimeout(() => void this.#lookAt(id), wait).unref());
  }

  /** Others may have moved its deadline. Where that cannot be found out, it stays known. */
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
    // One that is still starting gets its address later.
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

/** That the account does not know an id is an answer; whatever else goes wrong is the call's failure. */
function unlessUnknown(error: unknown): undefined {
  if (error instanceof Error && ["NotFoundError", "SandboxExpiredError"].includes(error.name))
    return undefined;
  throw error;
}

function isAgentOf({ publicHost }: Sandbox, url: string): boolean {
  return publicHost !== undefined && normalise(publicHost) === url;
}

/** Scheme, host and path, without the slash that some add. */
function normalise(text: string): string {
  const given = /^[a-z]+:\/\//i.test(text) ? text : `https://${text}`;
  if (!URL.canParse(given)) return "";
  const { origin, pathname } = new URL(given);
  return origin + pathname.replace(/(?<!\/)\/+$/, "");
}

/** What may be a sandbox's id: `https://7777-<id>.<region>.…` of clouds, `http://…/agent/<id>` of the local backend. */
function idsIn(url: string): string[] {
  const inHost = /^https?:\/\/(?:\d+-)?([a-z0-9]+)\./i.exec(url)?.[1];
  const inPath = /\/([A-Za-z0-9_-]+)$/.exec(url)?.[1];
  return [inPath, inHost].filter((id) => id !== undefined);
}
