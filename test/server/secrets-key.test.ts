// @module-tag openssl
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SandboxClient } from "cloud-sandbox";
import { expect, onTestFinished, test } from "vitest";
import { type LocalServer, startLocalServer } from "../support/local-server.js";
import { startSecretSite } from "../support/secret-site.js";

const credential = "credential-that-is-sealed-0123456789";

test("a server with a key has its secrets after a restart, and one with another key says that they are lost", async ({
  skip,
}) => {
  skip(process.getuid?.() !== 0, "only root can give a server a hosts file of its own");
  await using site = await startSecretSite();
  const directory = await mkdtemp(join(tmpdir(), "secrets-key-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const data = join(directory, "data");
  const key = async (name: string): Promise<string> => {
    const path = join(directory, name);
    await writeFile(path, name.padEnd(32, "."), { mode: 0o600 });
    return path;
  };
  const start = (keyFile: string): Promise<LocalServer> =>
    startLocalServer({
      args: [
        ...["--pool", "0", "--data-dir", data, "--secrets-key-file", keyFile],
        ...["--trust-ca", site.authority, "--egress-allow-private", site.at],
      ],
      through: site.through,
    });
  const clientOf = ({ url, apiKey }: LocalServer) => new SandboxClient({ baseUrl: url, apiKey });
  const curl = `curl -sS -H "authorization: Bearer $TOKEN" https://${site.at}/`;

  let server = await start(await key("first"));
  onTestFinished(() => void server.stop("SIGKILL"));
  let client = clientOf(server);
  const own = { value: credential, hosts: [site.at] };
  for (const name of ["rotated", "renewed"]) await client.secrets.set(name, own);
  const { id } = await client.sandboxes.create({
    secrets: { TOKEN: own, ROTATED: { from: "rotated" }, GONE: { from: "renewed" } },
  });
  await client.secrets.set("rotated", own);
  // Another secret of this name is not that which the sandbox has.
  await client.secrets.delete("renewed");
  await client.secrets.set("renewed", own);
  await client.close();
  await server.stop();

  const entries = await readdir(data, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  for (const file of files) expect((await readFile(file)).includes(credential), file).toBe(false);

  server = await start(await key("first"));
  client = clientOf(server);
  let sandbox = await client.sandboxes.connect(id, { start: true });
  const states = async () => (await sandbox.secrets.list()).map(({ name, state }) => [name, state]);
  expect(await states()).toEqual([
    ["TOKEN", "ready"],
    ["ROTATED", "ready"],
    ["GONE", "lost"],
  ]);
  await sandbox.commands.run(curl);
  expect(site.asked.at(-1)?.authorization).toBe(`Bearer ${credential}`);
  await client.close();
  await server.stop();

  server = await start(await key("second"));
  client = clientOf(server);
  sandbox = await client.sandboxes.connect(id, { start: true });
  expect((await states()).map(([, state]) => state)).toEqual(["lost", "lost", "lost"]);
  await client.close();
});

test("a server does not start with a key that others can read", async () => {
  const directory = await mkdtemp(join(tmpdir(), "secrets-key-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const key = join(directory, "key");
  await writeFile(key, Buffer.alloc(32), { mode: 0o644 });
  await expect(startLocalServer({ args: ["--secrets-key-file", key] })).rejects.toThrow(
    "other users can read it",
  );
});
