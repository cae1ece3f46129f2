// @module-tag openssl
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SandboxClient } from "cloud-sandbox";
import { expect, onTestFinished, test } from "vitest";
import { CredentialLeaks } from "../support/credential-leaks.js";
import { type LocalServer, startLocalServer } from "../support/local-server.js";
import { startSecretSite } from "../support/secret-site.js";

const credential = "credential-under-load-0123456789";
const kills = 4;

test("a server that is killed under load leaves no value, and has the last one that it confirmed", {
  timeout: 240_000,
}, async ({ skip }) => {
  skip(process.getuid?.() !== 0, "only root can give a server a hosts file of its own");
  let onRequest = (): void => undefined;
  await using site = await startSecretSite("api.secret.test", (_, response) => {
    onRequest();
    response.end();
  });
  const directory = await mkdtemp(join(tmpdir(), "secret-kills-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const key = join(directory, "key");
  const data = join(directory, "data");
  await writeFile(key, Buffer.alloc(32, 1), { mode: 0o600 });
  const leaks = new CredentialLeaks(credential);
  let server: LocalServer | undefined;
  onTestFinished(() => void server?.stop("SIGKILL"));
  let [confirmed, sent] = [0, 0];
  for (let kill = 0; kill <= kills; kill += 1) {
    server = await startLocalServer({
      args: [
        ...["--pool", "0", "--data-dir", data, "--secrets-key-file", key],
        ...["--trust-ca", site.authority, "--egress-allow-private", site.at],
      ],
      through: site.through,
    });
    const client = new SandboxClient({ baseUrl: server.url, apiKey: server.apiKey, retry: false });
    const set = async (): Promise<void> => {
      sent += 1;
      const number = sent;
      await client.secrets.set("load", { value: `${credential}-${number}`, hosts: [site.at] });
      confirmed = number;
    };
    if (sent === 0) await set();
    const sandbox = await client.sandboxes.create({ secrets: { TOKEN: { from: "load" } } });
    site.asked.length = 0;
    const ask = `curl -sS -o /dev/null -H "authorization: Bearer $TOKEN" https://${site.at}/`;
    await sandbox.commands.run(ask);
    const got = Number(site.asked[0]?.authorization?.split("-").at(-1));
    expect([confirmed, sent]).toContain(got);
    if (kill === kills) {
      await client.close();
      break;
    }
    await sandbox.commands.runBackground(`for _ in 1 2 3 4; do (while :; do ${ask}; done) & done; wait`);
    // A change closes the connections that are open, so that each waits for a request.
    let change: Promise<void> | undefined;
    onRequest = () => {
      change ??= set()
        .catch(() => undefined)
        .finally(() => {
          change = undefined;
        });
    };
    await expect.poll(() => site.asked.length, { timeout: 60_000 }).toBeGreaterThan(20 + kill * 7);
    await server.stop("SIGKILL");
    onRequest = () => undefined;
    await change;
    await client.close();
    expect([
      ...(await leaks.below(data)),
      ...(await leaks.inProcesses()),
      ...leaks.in("log", server.log()),
    ]).toEqual([]);
  }
});
