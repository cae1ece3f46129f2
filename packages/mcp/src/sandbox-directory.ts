/** The sandboxes of this server: finds the one a call means, and remembers which ones it must not leave behind. */
import type { Sandbox, SandboxClient } from "cloud-sandbox";
import { InvalidArgumentsError } from "./arguments.js";

/** Sandboxes kept at hand; one beyond is looked up again when it is used. */
const mostKnown = 500;

export interface GivenReference {
  readonly sandbox_id?: string | undefined;
  readonly vm_url?: string | undefined;
}

export class SandboxDirectory {
  readonly #client: SandboxClient;
  readonly #known = new Map<string, Sandbox>();
  readonly #created = new Set<string>();

  constructor(client: SandboxClient) {
    this.#client = client;
  }

  /** The sandbox a call names by its id, or by the URL of its agent. Nothing is ever sent to a URL that was given. */
  async find({ sandbox_id: id, vm_url: url }: GivenReference, signal: AbortSignal): Promise<Sandbox> {
    if (id !== undefined)
      return this.#known.get(id) ?? this.#remember(await this.#client.sandboxes.get(id, { signal }));
    if (url !== undefined) return this.#findByUrl(url, signal);
    throw new InvalidArgumentsError(
      "sandbox_id is required: create_sandbox makes a sandbox, list_sandboxes shows those that exist.",
    );
  }

  /** Whether the account has such a sandbox, or had it when it was last used here. */
  async has(id: string, signal: AbortSignal): Promise<boolean> {
    if (this.#known.has(id)) return true;
    return (await this.#client.sandboxes.get(id, { signal }).catch(unlessUnknown)) !== undefined;
  }

  /** A sandbox that this server created, and deletes when it ends. */
  adopt(sandbox: Sandbox): void {
    this.#created.add(sandbox.id);
    this.#remember(sandbox);
  }

  /** Forgets a sandbox that is gone. */
  forget(id: string): void {
    this.#known.delete(id);
    this.#created.delete(id);
  }

  /** Deletes every sandbox that this server created; those that cannot be deleted end at their deadline. */
  async deleteCreated(): Promise<void> {
    const ids = [...this.#created];
    this.#created.clear();
    await Promise.allSettled(ids.map((id) => this.#client.sandboxes.delete(id)));
  }

  async #findByUrl(given: string, signal: AbortSignal): Promise<Sandbox> {
    const url = normalise(given);
    for (const sandbox of this.#known.values()) if (isAgentOf(sandbox, url)) return sandbox;
    for (const id of idsIn(url)) {
      const sandbox = await this.#client.sandboxes.get(id, { signal }).catch(unlessUnknown);
      if (sandbox !== undefined && isAgentOf(sandbox, url)) return this.#remember(sandbox);
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
    if (this.#known.size > mostKnown && oldest !== undefined) this.#known.delete(oldest);
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
  return origin + pathname.replace(/\/+$/, "");
}

/** What may be a sandbox's id: `https://7777-<id>.<region>.…` of clouds, `http://…/agent/<id>` of the local backend. */
function idsIn(url: string): string[] {
  const inHost = /^https?:\/\/(?:\d+-)?([a-z0-9]+)\./i.exec(url)?.[1];
  const inPath = /\/([A-Za-z0-9_-]+)$/.exec(url)?.[1];
  return [inPath, inHost].filter((id) => id !== undefined);
}
