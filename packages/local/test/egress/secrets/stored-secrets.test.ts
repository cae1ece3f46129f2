import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { EgressPolicy } from "../../../src/egress/egress-policy.js";
import { keptAuthority } from "../../../src/egress/secrets/kept-authority.js";
import { StoredSecrets } from "../../../src/egress/secrets/stored-secrets.js";
import { Database } from "../../../src/store/database.js";
import { PendingWrites } from "../../../src/store/pending-writes.js";
import { Sealer } from "../../../src/store/sealer.js";
import { SqliteSecretRepository } from "../../../src/store/secret-repository.js";
import { SettingsRepository } from "../../../src/store/settings.js";

const value = "real-credential-0123456789";
const hosts = ["api.example.com"];
const [first, second] = ["11".repeat(32), "22".repeat(32)];

let database: Database;
beforeEach(async () => {
  database = await Database.open();
});

/** The secrets as a server with these keys has them after its start, over the same records. */
async function opened(keys?: string): Promise<StoredSecrets> {
  const secrets = new StoredSecrets({
    store: {
      secrets: new SqliteSecretRepository(database),
      writes: new PendingWrites(() => undefined),
    },
    sealer: keys === undefined ? undefined : await sealerOf(keys),
    egress: {
      policy: (rules) => new EgressPolicy(rules, { allowPrivate: [], deny: [] }),
      closeTunnels: () => undefined,
    },
    sandboxes: () => [],
  });
  await secrets.restore();
  return secrets;
}

async function sealerOf(keys: string): Promise<Sealer> {
  const directory = await mkdtemp(join(tmpdir(), "stored-secrets-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  await writeFile(join(directory, "key"), keys, { mode: 0o600 });
  return Sealer.fromFile(join(directory, "key"), undefined);
}

const revealed = (secrets: StoredSecrets, name = "github"): string | undefined =>
  secrets.get(name, undefined).value.reveal();

test("without a key a restart loses the value, and says so", async () => {
  await (await opened()).set("github", { value, hosts, env: true }, undefined);
  const secrets = await opened();
  expect(revealed(secrets)).toBeUndefined();
  expect(secrets.get("github", undefined)).toMatchObject({ name: "github", rules: { hosts } });
  await secrets.set("github", { value, hosts, env: true }, undefined);
  expect(revealed(secrets)).toBe(value);
});

test("with a key a restart keeps the value, and no record has it in plain", async () => {
  await (await opened(first)).set("github", { value, hosts, env: true }, undefined);
  expect(JSON.stringify(database.all("SELECT * FROM stored_secrets"))).not.toContain(value);
  expect(revealed(await opened(first))).toBe(value);
  expect(revealed(await opened(second))).toBeUndefined();
});

test("a key is replaced by one above it, with which all is sealed at the next start", async () => {
  await (await opened(first)).set("github", { value, hosts, env: true }, undefined);
  expect(revealed(await opened(`${second}\n${first}\n`))).toBe(value);
  await expect.poll(async () => revealed(await opened(second))).toBe(value);
});

test("the authority stays when the key is replaced", async () => {
  const settings = new SettingsRepository(database);
  const before = await keptAuthority(settings, await sealerOf(first));
  const between = await keptAuthority(settings, await sealerOf(`${second}\n${first}`));
  const after = await keptAuthority(settings, await sealerOf(second));
  expect(between?.pem).toBe(before?.pem);
  expect(after?.pem).toBe(before?.pem);
});

test("sealed values cannot be exchanged between names and API keys", async () => {
  const secrets = await opened(first);
  await secrets.set("one", { value: `${value}-one`, hosts, env: true }, undefined);
  await secrets.set("other", { value, hosts, env: true }, "key_other");
  const rows = database
    .all("SELECT record FROM stored_secrets")
    .map(({ record }) => JSON.parse(String(record)));
  const [one, other] = ["one", "other"].map((name) => rows.find((row) => row.name === name));
  await new SqliteSecretRepository(database).save({ ...one, sealed: other.sealed });
  expect(revealed(await opened(first), "one")).toBeUndefined();
});

test("each API key has its own, by name", async () => {
  const secrets = await opened();
  for (const name of ["two", "one"]) await secrets.set(name, { value, hosts, env: true }, "key_a");
  expect(secrets.list("key_a").map(({ name }) => name)).toEqual(["one", "two"]);
  expect(secrets.list(undefined)).toEqual([]);
  expect(() => secrets.get("one", "key_b")).toThrow('There is no stored secret "one".');
});

test("those who name it have the next value at once, and none after it is deleted", async () => {
  const secrets = await opened(first);
  const named = (await secrets.set("github", { value, hosts, env: true }, undefined)).value;
  await secrets.set("github", { value: `${value}-next`, hosts, env: true }, undefined);
  expect(named.reveal()).toBe(`${value}-next`);
  await secrets.delete("github", undefined);
  expect(named.reveal()).toBeUndefined();
  await secrets.delete("github", undefined);
  expect((await opened(first)).list(undefined)).toEqual([]);
});

test("what cannot work is refused before it is stored, and an API key stores 100", async () => {
  const secrets = await opened();
  await expect(secrets.set("aws", { value, hosts: ["10.0.0.1"], env: true }, "key")).rejects.toThrow(
    "address",
  );
  await expect(secrets.set("aws", { hosts, env: true }, "key")).rejects.toThrow("needs a value");
  await expect(secrets.set("aws", { from: "other", env: true }, "key")).rejects.toThrow("and not from");
  expect(secrets.list("key")).toEqual([]);
  for (let each = 0; each < 100; each += 1) await secrets.set(`s${each}`, { value, hosts, env: true }, "key");
  await expect(secrets.set("more", { value, hosts, env: true }, "key")).rejects.toThrow(
    "100 secrets at most",
  );
  await secrets.set("s1", { value, hosts, env: true }, "key");
});
