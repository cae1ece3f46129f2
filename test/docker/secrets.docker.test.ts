import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SandboxClient } from "cloud-sandbox";
import { describe, expect, onTestFinished, test } from "vitest";
import { secretStatements } from "../network/secret-statements.js";
import { startDockerServer, withoutDocker } from "../support/docker/docker-server.js";
import { startSecretSite } from "../support/secret-site.js";

const obstacle = withoutDocker();
if (obstacle !== undefined) test("secrets in containers", ({ skip }) => skip(obstacle));
else
  describe("in a container,", () => {
    secretStatements(startDockerServer, [
      "Python's urllib",
      "Python's requests",
      "Node's fetch",
      "Node's https",
    ]);
  });

if (obstacle === undefined)
  test("a container that goes on without its server has its secrets, and trusts the next server", async () => {
    await using site = await startSecretSite();
    const directory = await mkdtemp(join(tmpdir(), "secrets-docker-"));
    onTestFinished(() => rm(directory, { recursive: true, force: true }));
    const key = join(directory, "key");
    await writeFile(key, Buffer.alloc(32, 1), { mode: 0o600 });
    const start = () =>
      startDockerServer({
        args: [
          ...["--pool", "0", "--data-dir", join(directory, "data"), "--secrets-key-file", key],
          ...["--trust-ca", site.authority, "--egress-allow-private", site.at],
        ],
        through: site.through,
      });
    const credential = "credential-of-a-container-0123456789";
    let server = await start();
    onTestFinished(() => void server.stop("SIGKILL"));
    const ask = `node -e 'fetch("https://${site.at}/", { headers: { authorization: "Bearer " + process.env.TOKEN } })'`;
    const client = new SandboxClient({ baseUrl: server.url, apiKey: server.apiKey });
    const { id } = await client.sandboxes.create({
      secrets: { TOKEN: { value: credential, hosts: [site.at] } },
    });
    await client.close();
    await server.stop("SIGKILL");

    server = await start();
    await using next = new SandboxClient({ baseUrl: server.url, apiKey: server.apiKey });
    const sandbox = await next.sandboxes.connect(id);
    expect(sandbox.status).toBe("running");
    await sandbox.commands.run(ask);
    expect(site.asked.at(-1)?.authorization).toBe(`Bearer ${credential}`);
    await sandbox.secrets.set("TOKEN", { value: `${credential}-2`, hosts: [site.at] });
    await sandbox.commands.run(ask);
    expect(site.asked.at(-1)?.authorization).toBe(`Bearer ${credential}-2`);
    await sandbox.delete();
  });
