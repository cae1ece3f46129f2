import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { processIdentity } from "../../src/runtime/host/process-identity.js";
import { Database } from "../../src/store/database.js";
import type { StoredSandbox } from "../../src/store/sandbox-repository.js";
import { openStore, type Store } from "../../src/store/store.js";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "store-"));
});
afterEach(() => rm(directory, { recursive: true }));

const sandbox: StoredSandbox = {
  id: "1763640000abcdefgh",
  template: {
    id: "1",
    name: "base",
    displayName: "Base",
    description: "",
    category: "",
    limits: { memoryMb: 1, diskMb: 1, vcpu: 1, maxProcesses: 1 },
    languages: [{ language: "python", version: "3" }],
  },
  isolation: "namespace",
  status: "running",
  createdAt: new Date(1_763_640_000_123),
  timeoutSeconds: 600,
  expiresAt: new Date(1_763_640_600_123),
  name: "mine",
  egress: { internetAccess: true, allow: ["pypi.org"] },
  metadata: { owner: "Zoë 'o\"" },
  mounted: [{ target: "/data", volumeId: "vol_1", source: { volume: "cache" }, readOnly: true }],
  failureReason: undefined,
  sleep: { onTimeout: "stop", idleTimeoutSeconds: 60, autoStart: true },
  stopReason: "idle",
  idempotency: { key: "once", requestDigest: "d" },
  keyId: "key_1",
};
const { id, createdAt, expiresAt } = sandbox;

const stores: [string, () => Promise<Pick<Store, "sandboxes" | "close">>][] = [
  ["in memory", () => openStore()],
  ["in a file", () => openStore(directory)],
];

describe.each(stores)("the sandboxes of a store %s", (_, open) => {
  test("are read as they were last saved", async () => {
    const store = await open();
    const bare = { ...sandbox, name: undefined, metadata: {}, idempotency: undefined, keyId: undefined };
    await store.sandboxes.save(sandbox);
    expect(await store.sandboxes.list()).toEqual([sandbox]);
    await store.sandboxes.save({ ...bare, status: "error", failureReason: "why" });
    expect(await store.sandboxes.list()).toEqual([{ ...bare, status: "error", failureReason: "why" }]);
    await store.close();
  });

  test("have their end stored", async () => {
    const store = await open();
    await store.sandboxes.save(sandbox);
    await store.sandboxes.end({ id, end: "expired", createdAt, expiresAt, keyId: "key_1" });
    expect(await store.sandboxes.list()).toEqual([]);
    expect(store.sandboxes.findEnded(id)).toEqual({
      id,
      end: "expired",
      createdAt,
      expiresAt,
      keyId: "key_1",
    });
    expect(store.sandboxes.findEnded("another")).toBeUndefined();
    await store.close();
  });
});

describe("a data directory", () => {
  test("holds what was saved, and only its owner can read it", async () => {
    const first = await openStore(directory);
    await first.sandboxes.save(sandbox);
    await first.settings?.once("api_key", () => "k");
    for (const name of ["owners", "store.sqlite", "store.sqlite-wal"]) {
      expect({ name, mode: (await stat(join(directory, name))).mode & 0o077 }).toEqual({ name, mode: 0 });
    }
    await first.close();
    const second = await openStore(directory);
    expect(await second.sandboxes.list()).toEqual([sandbox]);
    expect(await second.settings?.once("api_key", () => "other")).toBe("k");
    await second.close();
  });

  test("is refused while another process has it, and while this one has", async () => {
    const parent = processIdentity(process.ppid) ?? "";
    await mkdir(join(directory, "owners"));
    await writeFile(join(directory, "owners", parent), "");
    await expect(openStore(directory)).rejects.toThrow(
      `in use by process ${process.ppid}. Stop that process`,
    );
    await rm(join(directory, "owners", parent));
    const owner = await openStore(directory);
    await expect(openStore(directory)).rejects.toThrow(`in use by process ${process.pid}.`);
    await owner.close();
  });

  test("is taken over from an owner that was killed, with the lock that it left", async () => {
    const before = await openStore(directory);
    await before.sandboxes.save(sandbox);
    await before.close();
    await writeFile(join(directory, "owners", `${process.ppid}-1`), "");
    await mkdir(join(directory, "store.sqlite.lock"));
    const after = await openStore(directory);
    expect(await after.sandboxes.list()).toEqual([sandbox]);
    const own = processIdentity(process.pid);
    expect((await readdir(join(directory, "owners"))).sort()).toEqual([own, `cloud-sandbox-${own}.life`]);
    await after.close();
  });

  test("that a newer version has written is refused, and its lock released", async () => {
    const database = await Database.open(join(directory, "store.sqlite"));
    database.run("INSERT INTO migrations (name) VALUES ('of the future')");
    database.close();
    await expect(openStore(directory)).rejects.toThrow("newer version");
    expect(await readdir(join(directory, "owners"))).toEqual([]);
  });

  test.each([
    ["a file", "/etc/hostname"],
    ["below a file", "/etc/hostname/data"],
  ])("that is %s is refused with one sentence", async (_, path) => {
    await expect(openStore(path)).rejects.toThrow(/cannot be used: .*Choose another with --data-dir/);
  });
});

describe("a transaction", () => {
  test("that fails half-way changes nothing", async () => {
    const database = await Database.open();
    const half = (): void =>
      database.transaction(() => {
        database.run("INSERT INTO settings (name, value) VALUES ('a', 'b')");
        throw new Error("half-way");
      });
    expect(half).toThrow("half-way");
    expect(database.all("SELECT * FROM settings")).toEqual([]);
    database.close();
  });
});
