import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Sandbox, SandboxClient } from "cloud-sandbox";
import { describe, expect, onTestFinished, test } from "vitest";
import { cannotStartAs, startLocalServer } from "../support/local-server.js";
import { copiedDirectoryStatements } from "./copied-directory-statements.js";

const users = (["root", "an ordinary user"] as const).filter((who) => cannotStartAs(who) === undefined);

describe.each(users)("in a copy of a directory, on a server that %s started,", (who) => {
  copiedDirectoryStatements((args) => startLocalServer({ who, args }));
});

describe("in a copy of a directory, where code is root,", { tags: ["root"] }, () => {
  copiedDirectoryStatements((args) => startLocalServer({ args: [...args, "--root-inside"] }));
});

/** A sandbox of a server of its own. The server and the directory are removed when the test has ended. */
async function sandboxWithCopyOf(directory: string): Promise<Sandbox> {
  const server = await startLocalServer({ args: ["--pool", "0", "--allow-mount", directory] });
  const client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
  onTestFinished(async () => {
    await client.close();
    await server.stop();
    await rm(directory, { recursive: true });
  });
  const mounts = { "/repo": { host: directory, mode: "copy" } } as const;
  return client.sandboxes.create({ template: "base", mounts });
}

test("a directory of root is copied, and written to as root", { tags: ["root"] }, async () => {
  const directory = await mkdtemp(join(tmpdir(), "copied-of-root-"));
  await writeFile(join(directory, "private"), "old\n", { mode: 0o600 });
  const sandbox = await sandboxWithCopyOf(directory);
  await sandbox.commands.run("echo new >> /repo/private; echo x > /repo/made");
  expect((await sandbox.apply()).map(({ path, status }) => `${status} ${path}`)).toEqual([
    "applied /repo/made",
    "applied /repo/private",
  ]);
  const { mode, uid } = await stat(join(directory, "private"));
  expect([await readFile(join(directory, "private"), "utf8"), mode & 0o777, uid]).toEqual([
    "old\nnew\n",
    0o600,
    0,
  ]);
});

test("an apply whose caller leaves writes no more, and the next one finishes it", async () => {
  const directory = await mkdtemp(join(tmpdir(), "left-apply-"));
  const sandbox = await sandboxWithCopyOf(directory);
  const files = 3000;
  await sandbox.commands.run(`cd /repo && for i in $(seq ${files}); do echo $i > $i; done`);
  const leaving = new AbortController();
  const applying = sandbox.apply({ signal: leaving.signal });
  applying.catch(() => undefined);
  const written = async () => (await readdir(directory)).length;
  await expect.poll(written, { interval: 1, timeout: 30_000 }).toBeGreaterThan(0);
  leaving.abort();
  await expect(applying).rejects.toThrow();
  // It waits for the first one to end.
  await sandbox.apply({ check: true });
  const left = await readdir(directory);
  expect(left.length).toBeLessThan(files);
  expect(left.filter((name) => name.startsWith("."))).toEqual([]);
  expect((await sandbox.apply()).every(({ status }) => status === "applied")).toBe(true);
  expect((await readdir(directory)).length).toBe(files);
});
