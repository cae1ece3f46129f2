import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { SqliteApiKeyRepository } from "../../src/store/api-key-repository.js";
import { openStore, type Store } from "../../src/store/store.js";
import { AccountKey, KeyRing } from "../../src/tokens/key-ring.js";

let directory: string;
let store: Store;
let keys: KeyRing;

const open = async (): Promise<void> => {
  store = await openStore(directory);
  keys = new KeyRing({
    ownKey: new AccountKey("own"),
    repository: async () => new SqliteApiKeyRepository(await store.database(), store.events),
    writes: store.writes,
  });
  await keys.restore();
};
const create = (name: string, expiresInSeconds?: number) =>
  keys.create({ name, maxSandboxes: 3, expiresInSeconds, priorityClass: "team" });
const refused = (code: string) => expect.objectContaining({ status: 401, code });

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "key-ring-"));
  await open();
});
afterEach(async () => {
  vi.useRealTimers();
  await store.close();
  await rm(directory, { recursive: true });
});

test("a key is known after a restart, and only its hash is in the data directory", async () => {
  const { key, text } = await create("ci");
  expect(keys.identify(text)).toEqual({ keyId: key.id, name: "ci" });
  await store.close();
  for (const name of await readdir(directory))
    expect(await readFile(join(directory, name)).catch(() => ""), name).not.toContain(text);
  await open();
  expect(keys.identify(text)).toEqual({ keyId: key.id, name: "ci" });
  expect(keys.list()).toMatchObject([
    { name: "ci", maxSandboxes: 3, priorityClass: "team", lastUsedAt: expect.any(Date) },
  ]);
  expect(keys.identify("own")).toEqual({ keyId: undefined, name: "owner" });
  expect(keys.identify(`${text}x`)).toBeUndefined();
});

test("a revoked key is refused at once and after a restart, and its name can be used again", async () => {
  const { key, text } = await create("ci");
  expect(await keys.revoke("ci")).toMatchObject({ id: key.id, revokedAt: expect.any(Date) });
  const check = (): void => {
    expect(() => keys.identify(text)).toThrow(refused("API_KEY_REVOKED"));
    expect(() => keys.requireUsable(key.id)).toThrow(refused("API_KEY_REVOKED"));
    expect(keys.knows(text)).toBe(true);
  };
  check();
  const { key: next } = await create("ci");
  await store.close();
  await open();
  check();
  expect((await keys.revoke("ci")).id).toBe(next.id);
  expect((await keys.revoke(key.id)).id).toBe(key.id);
  await expect(keys.revoke("nobody")).rejects.toThrow(expect.objectContaining({ code: "API_KEY_NOT_FOUND" }));
});

test("a key is refused from the moment it expires, and its name can be used again", async () => {
  const { key, text } = await create("ci", 60);
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 59_000 });
  keys.requireUsable(key.id);
  vi.setSystemTime(Date.now() + 1001);
  expect(() => keys.identify(text)).toThrow(refused("API_KEY_EXPIRED"));
  expect(() => keys.requireUsable(key.id)).toThrow(refused("API_KEY_EXPIRED"));
  expect(keys.isShared).toBe(false);
  await create("ci");
  expect(keys.isShared).toBe(true);
});

test("two keys in use have two names, and none is called as the server's own", async () => {
  await create("ci");
  await expect(create("ci")).rejects.toMatchObject({ status: 409 });
  await expect(create("owner")).rejects.toMatchObject({ status: 409 });
});

test("a token of a key that is not known any more is refused", () => {
  expect(() => keys.requireUsable("key_0")).toThrow(refused("API_KEY_REVOKED"));
});
