import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Database } from "../../src/store/database.js";
import type { StoredSandbox } from "../../src/store/sandbox-repository.js";
import { openStore } from "../../src/store/store.js";
import { persistentTokenIssuer } from "../../src/tokens/token-issuer.js";

const main = fileURLToPath(new URL("../../dist/main.js", import.meta.url));
const limits = { memoryMb: 128, diskMb: 64, vcpu: 1, maxProcesses: 64 };
const stored: StoredSandbox = {
  id: "1763640000abcdefgh",
  template: {
    ...{ id: "1", name: "base", displayName: "Base", description: "", category: "", limits },
    languages: [],
  },
  isolation: "namespace",
  status: "running",
  createdAt: new Date(),
  timeoutSeconds: 600,
  expiresAt: new Date(Date.now() + 600_000),
  name: undefined,
  egress: { internetAccess: false },
  metadata: {},
  mounted: [],
  failureReason: undefined,
  idempotency: undefined,
  keyId: undefined,
};

let intact: string;
beforeAll(async () => {
  intact = mkdtempSync(join(tmpdir(), "intact-"));
  const store = await openStore(intact);
  await persistentTokenIssuer(store.settings);
  for (let count = 0; count < 200; count += 1)
    await store.sandboxes.save({
      ...stored,
      id: `${stored.id}${count}`,
      metadata: { text: "x".repeat(200) },
    });
  await store.close();
});
afterAll(() => rmSync(intact, { recursive: true }));

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "failed-start-"));
  cpSync(intact, directory, { recursive: true });
});
afterEach(() => rmSync(directory, { recursive: true }));

/**
 * Starts a server that is expected to fail, and resolves with what it printed. A server that starts all the same is
 * ended, and its exit code is null.
 */
async function start(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [main, "serve", "--port", "0", "--json", ...args], { stdio: "pipe" });
  const limit = setTimeout(() => child.kill("SIGKILL"), 60_000);
  child.stdout.once("data", () => child.kill("SIGTERM"));
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "exit"),
  ]);
  clearTimeout(limit);
  return { code: code as number | null, stdout, stderr };
}

async function change(sql: string): Promise<void> {
  const database = await Database.open(join(directory, "store.sqlite"));
  database.run(sql);
  database.close();
}

const store = (): string => join(directory, "store.sqlite");

const broken: [string, () => unknown, string][] = [
  ["whose store is something else", () => writeFileSync(store(), "not SQLite, ".repeat(100)), "Move it away"],
  ["whose store is a directory", () => [rmSync(store()), mkdirSync(store())], "EISDIR"],
  ["with a damaged page", () => damage(store()), "is damaged"],
  [
    "with a row that cannot be read",
    () => change("UPDATE sandboxes SET template = '{'"),
    "1763640000abcdefgh",
  ],
  [
    "with a row that says nothing",
    () => change("UPDATE sandboxes SET template = '{}'"),
    "1763640000abcdefgh",
  ],
  [
    "with a status that there is not",
    () => change("UPDATE sandboxes SET status = 'new'"),
    "1763640000abcdefgh",
  ],
  [
    "with a signing key that is none",
    () => change("UPDATE settings SET value = 'k' WHERE name = 'signing_key'"),
    "signing key",
  ],
  [
    "of a newer version",
    () => change("INSERT INTO migrations (name) VALUES ('of tomorrow')"),
    "by a newer version",
  ],
];

describe("a data directory", () => {
  test.each(broken)("%s ends the start with one line that says what to do", async (_, breakIt, hint) => {
    await breakIt();
    const { code, stdout, stderr } = await start("--data-dir", directory);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/^cloud-sandbox-local: .*--data-dir\.\n$/);
    expect(stderr).toContain(directory);
    expect(stderr).toContain(hint);
    // The failed start has released the directory, so a second start finds the same problem instead of a lock.
    expect((await start("--data-dir", directory)).stderr).toBe(stderr);
  });

  test.each(["/proc/foo", "/proc/foo/bar"])(
    "%s, which cannot be created, ends the start too",
    async (path) => {
      const { code, stderr } = await start("--data-dir", path);
      expect(code).toBe(1);
      expect(stderr).toMatch(/^cloud-sandbox-local: The data directory \/proc\/foo\S* cannot be used: .*\n$/);
    },
  );

  test("that is full ends the start, and works again when it has room", async ({ skip }) => {
    skip(process.getuid?.() !== 0, "mounting a file system takes root");
    const small = join(directory, "small");
    mkdirSync(small);
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=2m", "tmpfs", small]);
    try {
      fill(join(small, "fill"));
      const { code, stdout, stderr } = await start("--data-dir", join(small, "data"));
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(stderr).toMatch(
        /^cloud-sandbox-local: The data directory .* is full\. Free some disk space .*\n$/,
      );
      rmSync(join(small, "fill"));
      expect(await start("--data-dir", join(small, "data"))).toMatchObject({ code: 0 });
    } finally {
      execFileSync("umount", ["--lazy", small]);
    }
  });
});

/** Overwrites the beginning of each page of a SQLite file except the first, so that every table is damaged. */
function damage(path: string): void {
  const { length } = readFileSync(path);
  const file = openSync(path, "r+");
  for (let page = 4096; page < length; page += 4096) writeSync(file, Buffer.alloc(64, 0xff), 0, 64, page);
  closeSync(file);
}

function fill(path: string): void {
  const file = openSync(path, "w");
  for (const size of [65_536, 4096, 1]) {
    try {
      for (;;) writeSync(file, Buffer.alloc(size));
    } catch (error) {
      expect((error as NodeJS.ErrnoException).code).toBe("ENOSPC");
    }
  }
  closeSync(file);
}
