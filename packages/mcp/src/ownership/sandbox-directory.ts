/**
 * Finds the sandbox that a tool call names by id, URL or name, among those that the client may use, and records the
 * sandboxes that calls create.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { CreateSandboxOptions, Sandbox, SandboxClient } from "cloud-sandbox";
import { InvalidArgumentsError } from "../errors/errors.js";
import type { Owner, SandboxLedger } from "./sandbox-ledger.js";

/** The most sandboxes kept in memory. Others are fetched from the service when a call names them. */
const mostKnown = 500;

/** Seconds that a leased sandbox lives after its last use. Sandboxes of a server that crashed end then, too. */
export const idleSeconds = 3600;

/**
 * Milliseconds after a sandbox's deadline at which the server checks whether the sandbox has ended, and between further
 * checks.
 */
const graceMs = 1_000;
const checkAgainMs = 30_000;
/** Milliseconds that a call waits for a sandbox that is being started, and between two looks at it. */
const longestStartMs = 30_000;
const startPauseMs = 250;
/** The longest delay of a timer, in milliseconds. For a later deadline, the timer is set again when it fires. */
const longestTimer = 2_147_483_647;

export interface GivenReference {
  readonly sandbox_id?: string | undefined;
  readonly vm_url?: string | undefined;
}

export class SandboxDirectory {
  readonly #client: SandboxClient;
  readonly #known = new Map<string, Sandbox>();
  readonly #deadlines = new Map<string, NodeJS.Timeout>();
  readonly #ledger: SandboxLedger;
  /** The client in the ledger's entries. */
  readonly #owner: Owner;
  /** The sandboxes that are being created, by the names that they will have. */
  readonly #creating = new Map<string, Promise<Sandbox>>();
  readonly #listeners = new Set<() => void>();
  /** The sandboxes about whose hosts the person at the client is asked, with the id of the last event that was read. */
  readonly asked = new Map<string, string>();
  readonly #beingAsked = new Set<string>();

  constructor(client: SandboxClient, ledger: SandboxLedger, owner: Owner) {
    this.#client = client;
    this.#ledger = ledger;
    this.#owner = owner;
  }

  /**
   * The sandbox that a call names by its id, or by its agent's URL. The URL is only compared: no request is sent to it.
   */
  async find({ sandbox_id: id, vm_url: url }: GivenReference, signal: AbortSignal): Promise<Sandbox> {
    if (id !== undefined) {
      await this.requireOwn(id);
      return this.#known.get(id) ?? this.#remember(await this.#client.sandboxes.get(id, { signal }));
    }
    if (url !== undefined) return this.#findByUrl(url, signal);
    throw new InvalidArgumentsError(
      "sandbox_id is required: create_sandbox makes a sandbox, list_sandboxes shows the sandboxes that exist.",
    );
  }

  /** Whether nobody else asks about the sandbox now: one call asks at a time. */
  beginAsking(id: string): boolean {
    if (this.#beingAsked.has(id)) return false;
    this.#beingAsked.add(id);
    return true;
  }

  endAsking(id: string): void {
    this.#beingAsked.delete(id);
  }

  /** Whether the account has such a sandbox. */
  async has(id: string, signal: AbortSignal): Promise<boolean> {
    return (await this.#client.sandboxes.get(id, { signal }).catch(unlessUnknown)) !== undefined;
  }

  /** Whether the client may use a sandbox. False if another client of this server created it. */
  isOwn(id: string): boolean {
    return !this.#ledger.isOfAnother(id, this.#owner);
  }

  /** Throws the same error for another client's sandbox as for one that never existed, so that ids cannot be guessed. */
  async requireOwn(id: string): Promise<void> {
    if (this.isOwn(id)) return;
    const { NotFoundError } = await import("cloud-sandbox");
    throw new NotFoundError({
      status: 404,
      code: "SANDBOX_NOT_FOUND",
      summary: `Sandbox ${JSON.stringify(id)} not found.`,
    });
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
   * Records a sandbox that the client created. It is deleted when the client disconnects or this server shuts down; if
   * it is leased (only this client can call it), also when the client is forgotten.
   */
  adopt(sandbox: Sandbox, { isLeased = false } = {}): void {
    this.#ledger.add(sandbox.id, this.#owner, isLeased);
    this.#remember(sandbox);
    for (const listener of this.#listeners) listener();
  }

  /** Removes a deleted or expired sandbox from the records. */
  forget(id: string): void {
    this.#ledger.delete(id);
    this.#drop(id);
  }

  /** Sets the deadline of a sandbox, which has changed. */
  setDeadline(id: string, deadline: Date | undefined): void {
    this.#stopWaiting(id);
    if (deadline === undefined || !this.#known.has(id)) return;
    const wait = Math.min(Math.max(deadline.getTime() - Date.now(), 0) + graceMs, longestTimer);
    this.#deadlines.set(id, setTimeout(() => void this.#checkDeadline(id), wait).unref());
  }

  /** The client's sandbox of that name. Waits if it is being created. Undefined if there is none. */
  async named(name: string): Promise<Sandbox | undefined> {
    return this.#sandboxNamed(name);
  }

  names(): string[] {
    return [...new Set([...this.#creating.keys(), ...this.#ledger.named(this.#owner).keys()])];
  }

  /** The names of sandboxes that have ended, the latest last. */
  endedNames(): string[] {
    return this.#ledger.freedNames(this.#owner);
  }

  /**
   * The client's sandbox of that name, running: a paused one is resumed, one that sleeps is started, one that is being started is waited
   * for. Undefined if there is none, or it has ended or failed; then its name is free.
   */
  async findRunning(name: string, signal: AbortSignal): Promise<Sandbox | undefined> {
    const sandbox = await this.named(name).catch(creationFailed);
    if (sandbox === undefined) return undefined;
    try {
      await wake(sandbox, signal);
      if (sandbox.status === "running") return sandbox;
    } catch (error) {
      if (!hasEnded(error)) throw error;
      this.forget(sandbox.id);
      return undefined;
    }
    // Its files are the caller's, who is not to get another sandbox in its place.
    if (sandbox.status !== "error" && sandbox.status !== "deleted")
      throw new InvalidArgumentsError(
        `Sandbox ${sandbox.id} of this name does not run yet. Call again in a moment, or end it with delete_sandbox.`,
      );
    this.forget(sandbox.id);
    return undefined;
  }

  /** The sandbox of that name. When there is none, `create` makes it, once for all calls that ask at the same time. */
  async getOrCreate(name: string, create: () => Promise<Sandbox>): Promise<Sandbox> {
    const existing = this.#sandboxNamed(name);
    if (existing !== undefined) return existing;
    const created = create();
    this.#creating.set(name, created);
    try {
      const sandbox = await created;
      // The name may have been freed, or given to another sandbox, meanwhile.
      if (this.#creating.get(name) === created) this.#ledger.name(sandbox, name);
      return sandbox;
    } finally {
      if (this.#creating.get(name) === created) this.#creating.delete(name);
    }
  }

  /**
   * Makes the sandbox of a name, then deletes the one that had the name. Returns whether there was one. When two calls make the
   * sandbox of a free name at the same time, one is refused.
   */
  async replace(name: string, create: () => Promise<Sandbox>): Promise<boolean> {
    const before = await this.named(name).catch(creationFailed);
    if (before !== undefined) {
      const sandbox = await create();
      const replaced = this.#free(name);
      this.#ledger.name(sandbox, name);
      await this.#delete(replaced);
      return true;
    }
    let isMade = false;
    await this.getOrCreate(name, () => {
      isMade = true;
      return create();
    });
    if (isMade) return false;
    throw new InvalidArgumentsError(
      "Another call has just started this sandbox; use it, or call again for a new one.",
    );
  }

  /** Makes a sandbox that ends when it was not used for {@link idleSeconds}, or when its client or this server ends. */
  async createLeased(options: Omit<CreateSandboxOptions, "timeoutSeconds">): Promise<Sandbox> {
    const sandbox = await this.#client.sandboxes.create({ ...options, timeoutSeconds: idleSeconds });
    this.adopt(sandbox, { isLeased: true });
    sandbox.keepAlive({ seconds: idleSeconds });
    return sandbox;
  }

  /** Does `work` in the client's sandbox of that name. Undefined when there is none, or it has ended. */
  async useNamed<Result>(
    name: string,
    work: (sandbox: Sandbox) => Promise<Result>,
  ): Promise<Result | undefined> {
    const sandbox = await this.named(name).catch(creationFailed);
    if (sandbox === undefined) return undefined;
    return this.use(sandbox, work).catch((error: unknown) => {
      if (hasEnded(error)) return undefined;
      throw error;
    });
  }

  /** Does `work` in a sandbox of the client. When the sandbox turns out to have ended, it is forgotten and its name is free. */
  async use<Result>(sandbox: Sandbox, work: (sandbox: Sandbox) => Promise<Result>): Promise<Result> {
    try {
      return await work(sandbox);
    } catch (error) {
      if (hasEnded(error)) this.forget(sandbox.id);
      throw error;
    }
  }

  /** Deletes the client's sandbox of that name. Returns whether there was one. */
  async end(name: string): Promise<boolean> {
    // Free the name before the first await: another call may give the name to a new sandbox meanwhile, which must not
    // be deleted here.
    return this.#delete(this.#free(name));
  }

  #sandboxNamed(name: string): Promise<Sandbox> | Sandbox | undefined {
    return this.#creating.get(name) ?? this.#ledger.named(this.#owner).get(name);
  }

  /** Frees a name, and returns the sandbox that had it. */
  #free(name: string): Promise<Sandbox> | Sandbox | undefined {
    const sandbox = this.#sandboxNamed(name);
    this.#creating.delete(name);
    if (sandbox !== undefined) this.#ledger.free(this.#owner, name);
    return sandbox;
  }

  async #delete(held: Promise<Sandbox> | Sandbox | undefined): Promise<boolean> {
    const sandbox = await Promise.resolve(held).catch(creationFailed);
    if (sandbox === undefined) return false;
    await this.#client.sandboxes.delete(sandbox.id);
    this.forget(sandbox.id);
    return true;
  }

  #drop(id: string): void {
    const wasKnown = this.#known.delete(id);
    this.#stopWaiting(id);
    if (wasKnown) for (const listener of this.#listeners) listener();
  }

  /**
   * Fetches the sandbox's deadline, which other clients may have moved. If the service does not answer, the sandbox
   * stays in the records.
   */
  async #checkDeadline(id: string): Promise<void> {
    try {
      const sandbox = await this.#client.sandboxes.get(id).catch(unlessUnknown);
      if (sandbox === undefined) {
        this.#ledger.expire(id);
        return this.#drop(id);
      }
      const deadline = Math.max(sandbox.expiresAt?.getTime() ?? 0, Date.now() + checkAgainMs);
      this.setDeadline(id, sandbox.expiresAt && new Date(deadline));
    } catch {
      this.#stopWaiting(id);
    }
  }

  #stopWaiting(id: string): void {
    clearTimeout(this.#deadlines.get(id));
    this.#deadlines.delete(id);
  }

  async #findByUrl(text: string, signal: AbortSignal): Promise<Sandbox> {
    const url = normalise(text);
    for (const sandbox of this.#known.values()) if (isAgentOf(sandbox, url)) return sandbox;
    for (const id of idsIn(url)) {
      const sandbox = await this.#client.sandboxes.get(id, { signal }).catch(unlessUnknown);
      if (sandbox !== undefined && this.isOwn(id) && isAgentOf(sandbox, url)) return this.#remember(sandbox);
    }
    throw new InvalidArgumentsError(
      "vm_url is not the agent of a sandbox of this account, so nothing was sent to it. Give sandbox_id instead; list_sandboxes shows the sandboxes that exist.",
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

/** Makes a sandbox run that sleeps, or is being started. Returns without that if it has failed, or is not started in time. */
async function wake(sandbox: Sandbox, signal: AbortSignal): Promise<void> {
  const latest = performance.now() + longestStartMs;
  do {
    await sandbox.refresh({ signal });
    if (sandbox.status === "paused") await sandbox.resume({ signal });
    if (sandbox.status === "stopped") await sandbox.start({ signal });
    if (sandbox.status !== "creating") return;
    await sleep(startPauseMs, undefined, { signal });
  } while (performance.now() < latest);
}

/** Replaces the error of a failed creation by undefined: there is no sandbox, and the creating call throws the error. */
function creationFailed(): undefined {
  return undefined;
}

/** Whether a call failed because its sandbox has ended. */
function hasEnded(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.name === "SandboxExpiredError" || ("code" in error && error.code === "SANDBOX_NOT_FOUND");
}

/** Turns "not found" into undefined, for an id that the account does not have. Throws every other error. */
function unlessUnknown(error: unknown): undefined {
  if (error instanceof Error && ["NotFoundError", "SandboxExpiredError"].includes(error.name))
    return undefined;
  throw error;
}

function isAgentOf({ publicHost }: Sandbox, url: string): boolean {
  return publicHost !== undefined && normalise(publicHost) === url;
}

/** A URL's scheme, host and path, without a slash at the end. */
function normalise(text: string): string {
  const url = /^[a-z]+:\/\//i.test(text) ? text : `https://${text}`;
  if (!URL.canParse(url)) return "";
  const { origin, pathname } = new URL(url);
  return origin + pathname.replace(/(?<!\/)\/+$/, "");
}

/** The parts of a URL that may be a sandbox's id: `https://7777-<id>.<region>.…` of clouds, `http://…/agent/<id>` of the local backend. */
function idsIn(url: string): string[] {
  const inHost = /^https?:\/\/(?:\d+-)?([a-z0-9]+)\./i.exec(url)?.[1];
  const inPath = /\/([A-Za-z0-9_-]+)$/.exec(url)?.[1];
  return [inPath, inHost].filter((id) => id !== undefined);
}
