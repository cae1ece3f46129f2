import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { Problem } from "@cloud-sandbox/server-kit";
import type { NewEvent } from "@cloud-sandbox/server-kit/handlers";
import pLimit from "p-limit";
import type { ApiKeyRepository, StoredApiKey } from "../store/api-key-repository.js";
import type { PendingWrites } from "../store/pending-writes.js";

/** Most keys that are in use, or expired, at a time. */
const mostKeys = 1000;
/** Milliseconds between two writes of the time at which a key was last used. */
const usePrecisionMs = 60_000;

/** Who sent a request. */
export interface Caller {
  /** Id of the caller's API key. Undefined for the server's own key. */
  readonly keyId: string | undefined;
  readonly name: string;
}

/** The caller with the server's own key. */
export const owner: Caller = { keyId: undefined, name: "owner" };

/** An API key besides the server's own. The key itself is not stored, only its hash. */
export type ApiKey = Omit<StoredApiKey, "digest">;

interface KeyRequest {
  readonly name: string;
  readonly maxSandboxes: number | undefined;
  readonly expiresInSeconds: number | undefined;
  readonly priorityClass?: string | undefined;
}

interface KeyRingParts {
  readonly ownKey: AccountKey;
  /** The stored keys. Called when the first key is created, because without keys no database is needed. */
  readonly repository: () => Promise<ApiKeyRepository>;
  readonly writes: PendingWrites;
}

/** The API keys of a server: its own, which alone manages the others, and those that were created with it. */
export class KeyRing {
  readonly #keys = new Map<string, StoredApiKey>();
  readonly #byDigest = new Map<string, string>();
  /** When the last use of each key was saved. */
  readonly #savedUses = new Map<string, number>();
  /** One key is created at a time, because two keys in use must not have one name. */
  readonly #creating = pLimit(1);
  #repository: ApiKeyRepository | undefined;

  constructor(private readonly parts: KeyRingParts) {}

  /** Loads the stored keys. */
  async restore(): Promise<void> {
    this.#repository = await this.parts.repository();
    for (const key of await this.#repository.list()) this.#set(key);
  }

  /** The caller with this key; undefined if there is no such key. Throws a 401 problem if the key was revoked or has expired. */
  identify(text: string): Caller | undefined {
    if (this.parts.ownKey.matches(text)) return owner;
    const key = this.#find(text);
    if (!key) return undefined;
    requireUsable(key);
    this.#noteUse(key);
    return { keyId: key.id, name: key.name };
  }

  /** Whether a text is a key of this server, usable or not. */
  knows(text: string): boolean {
    return this.callerOf(text) !== undefined;
  }

  /** Finds the caller whose key a text is, usable or not. Undefined if there is no such key. */
  callerOf(text: string): Pick<Caller, "keyId"> | undefined {
    if (this.parts.ownKey.matches(text)) return owner;
    const key = this.#find(text);
    return key && { keyId: key.id };
  }

  /** Whether the key with this id may be used. The server's own key, undefined, always may. */
  isUsable(id: string | undefined): boolean {
    if (id === undefined) return true;
    const key = this.#keys.get(id);
    return key !== undefined && statusOf(key) === "active";
  }

  /** Throws a 401 problem if the key with this id may not be used any more. */
  requireUsable(id: string): void {
    const key = this.#keys.get(id);
    if (!key) throw revoked();
    requireUsable(key);
  }

  /** Whether there are keys in use besides the server's own. */
  get isShared(): boolean {
    for (const key of this.#keys.values()) if (statusOf(key) === "active") return true;
    return false;
  }

  /** The name of a key, or its id if the key is not remembered. */
  nameOf(id: string): string {
    return this.#keys.get(id)?.name ?? id;
  }

  maxSandboxes(id: string): number | undefined {
    return this.#keys.get(id)?.maxSandboxes;
  }

  /** The PriorityClass of a key's sandboxes. Those of the server's own key, undefined, have none. */
  priorityClass(id: string | undefined): string | undefined {
    return id === undefined ? undefined : this.#keys.get(id)?.priorityClass;
  }

  /** Creates a key. The result's `text` is the key itself, which is not stored. */
  create(request: KeyRequest): Promise<{ key: ApiKey; text: string }> {
    return this.#creating(() => this.#create(request));
  }

  async #create({
    name,
    maxSandboxes,
    expiresInSeconds,
    priorityClass,
  }: KeyRequest): Promise<{ key: ApiKey; text: string }> {
    this.#repository ??= await this.parts.repository();
    const kept = this.list().filter(({ revokedAt }) => revokedAt === undefined);
    if (name === owner.name || kept.some((key) => key.name === name && statusOf(key) === "active"))
      throw new Problem(409, "CONFLICT", `An API key named ${name} exists already.`, {
        hint: "Revoke that key first, or choose another name.",
      });
    if (kept.length >= mostKeys)
      throw new Problem(
        429,
        "RESOURCE_LIMIT_ERROR",
        `This server has ${mostKeys} API keys, the most it keeps.`,
        {
          hint: "Revoke keys that are no longer needed.",
          details: { limit: mostKeys, current: kept.length, available: 0 },
        },
      );
    const text = `csk_${randomBytes(32).toString("base64url")}`;
    const createdAt = new Date();
    const key: StoredApiKey = {
      id: `key_${randomBytes(8).toString("hex")}`,
      name,
      digest: digestOf(text),
      createdAt,
      expiresAt:
        expiresInSeconds === undefined ? undefined : new Date(createdAt.getTime() + expiresInSeconds * 1000),
      maxSandboxes,
      priorityClass,
      revokedAt: undefined,
      lastUsedAt: undefined,
    };
    const repository = this.#repository;
    await this.parts.writes.save(key.id, () => repository.save(key));
    this.#set(key);
    return { key, text };
  }

  /** All keys, the oldest first. Revoked ones are among them. */
  list(): readonly ApiKey[] {
    return [...this.#keys.values()];
  }

  /**
   * Revokes a key by its id or name. It is refused from now on, even if the change cannot be saved yet, unless the store must
   * save revocations: then this rejects, and nothing has changed.
   */
  async revoke(idOrName: string): Promise<ApiKey> {
    const named = this.list().filter(({ name }) => name === idOrName);
    const { id = "" } =
      this.#keys.get(idOrName) ??
      named.find((key) => statusOf(key) === "active") ??
      named.findLast((key) => statusOf(key) === "expired") ??
      named.at(-1) ??
      {};
    const key = this.#keys.get(id);
    if (!key)
      throw new Problem(404, "API_KEY_NOT_FOUND", "There is no API key with that id or name.", {
        hint: "List the keys to see those that exist.",
      });
    if (key.revokedAt) return key;
    const revokedAt = new Date();
    const ended = { ...key, revokedAt };
    const events: NewEvent[] = [
      { type: "key.revoked", at: revokedAt, facts: { key_id: id, name: key.name } },
    ];
    const repository = this.#repository;
    if (!repository?.mustSaveRevocations) {
      this.#set(ended);
      // Another key, because a write that notes a use must not take the place of this one.
      this.parts.writes.ensure(`revoked ${id}`, async () => repository?.save(ended, events));
      return ended;
    }
    await this.parts.writes.save(id, async () => {
      await repository.save(ended, events);
      this.#set(ended);
    });
    return ended;
  }

  #find(text: string): StoredApiKey | undefined {
    // A lookup by the hash of the text tells nothing about other keys by its time.
    return this.#keys.size === 0 ? undefined : this.#keys.get(this.#byDigest.get(digestOf(text)) ?? "");
  }

  #noteUse(key: StoredApiKey): void {
    const lastUsedAt = new Date();
    const used = { ...key, lastUsedAt };
    if (lastUsedAt.getTime() - (this.#savedUses.get(key.id) ?? 0) < usePrecisionMs) this.#set(used);
    else {
      this.#savedUses.set(key.id, lastUsedAt.getTime());
      this.#change(used);
    }
  }

  #change(key: StoredApiKey): StoredApiKey {
    this.#set(key);
    // A revocation that was saved meanwhile is not overwritten.
    this.parts.writes.ensure(key.id, async () => this.#repository?.save(this.#keys.get(key.id) ?? key));
    return key;
  }

  #set(key: StoredApiKey): void {
    this.#keys.set(key.id, key);
    this.#byDigest.set(key.digest, key.id);
  }
}

export function statusOf({ revokedAt, expiresAt }: ApiKey): "active" | "expired" | "revoked" {
  if (revokedAt) return "revoked";
  return expiresAt && expiresAt.getTime() <= Date.now() ? "expired" : "active";
}

function requireUsable(key: ApiKey): void {
  const status = statusOf(key);
  if (status === "revoked") throw revoked();
  if (status === "expired")
    throw refused("API_KEY_EXPIRED", `This API key expired at ${key.expiresAt?.toISOString()}.`);
}

const revoked = (): Problem => refused("API_KEY_REVOKED", "This API key was revoked.");

function refused(code: "API_KEY_REVOKED" | "API_KEY_EXPIRED", message: string): Problem {
  return new Problem(401, code, message, {
    hint: "Ask whoever runs the server for a new key; they create one with cloud-sandbox keys create.",
    headers: { "www-authenticate": 'Bearer error="invalid_token"' },
  });
}

/** A key is 32 random bytes, so that a plain hash of it cannot be reversed by guessing. */
function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}

/** The control plane's API key. Comparing takes constant time, so that timing does not reveal the key. */
export class AccountKey {
  readonly #digest: Buffer;

  constructor(key: string) {
    this.#digest = digest(key);
  }

  matches(candidate: string): boolean {
    return timingSafeEqual(digest(candidate), this.#digest);
  }
}

/** Maps keys of any length to digests of the same length, which `timingSafeEqual` requires. */
function digest(key: string): Buffer {
  return createHash("sha256").update(key).digest();
}

const firstSeconds = 1;
const mostSeconds = 60;
/** Milliseconds after which a key that did no harm meanwhile begins with {@link firstSeconds} again. */
const forgottenMs = 10 * 60_000;

interface Cooldown {
  seconds: number;
  /** In milliseconds, of a clock that does not jump. */
  endsAt: number;
}

/**
 * Makes an API key wait after a sandbox or program of its was ended for taking what the kernel counts for nobody: a second, and
 * twice as long each time. Each of them costs the server the start of a machine, so without the wait one caller could keep the
 * processors busy with machines that end at once. The server's own key never waits.
 */
export class KeyCooldowns {
  readonly #byKey = new Map<string, Cooldown>();

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Call it when a sandbox or program of this key was ended for that. */
  begin(keyId: string | undefined): void {
    if (keyId === undefined) return;
    const now = this.now();
    for (const [other, { endsAt }] of this.#byKey) if (now - endsAt > forgottenMs) this.#byKey.delete(other);
    const last = this.#byKey.get(keyId);
    const seconds = last ? Math.min(2 * last.seconds, mostSeconds) : firstSeconds;
    this.#byKey.set(keyId, { seconds, endsAt: now + seconds * 1000 });
  }

  /** Throws a 429 problem if the key has to wait. */
  requireOver(keyId: string | undefined): void {
    const left = keyId === undefined ? 0 : (this.#byKey.get(keyId)?.endsAt ?? 0) - this.now();
    if (left <= 0) return;
    const seconds = Math.ceil(left / 1000);
    const message =
      "A sandbox or program of this API key was ended, because it took too much of the kernel, which is shared with others.";
    throw new Problem(429, "RATE_LIMIT_EXCEEDED", message, {
      hint: `Wait ${seconds} s. The wait doubles each time, up to ${mostSeconds} s.`,
      headers: { "retry-after": String(seconds) },
      details: { retry_after_seconds: seconds },
    });
  }
}
