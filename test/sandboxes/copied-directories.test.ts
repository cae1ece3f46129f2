import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SandboxClient } from "cloud-sandbox";
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

test("a directory of root is copied, and written to as root", { tags: ["root"] }, async () => {
  const directory = await mkdtemp(join(tmpdir(), "copied-of-root-"));
  await writeFile(join(directory, "private"), "old\n", { mode: 0o600 });
  const server = await startLocalServer({ args: ["--pool", "0", "--allow-mount", directory] });
  onTestFinished(async () => {
    await server.stop();
    await rm(directory, { recursive: true });
  });
  await using client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
  const mounts = { "/repo": { host: directory, mode: "copy" } } as const;
  const sandbox = await client.sandboxes.create({ template: "base", mounts });
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
