// @module-tag openssl
import { SandboxClient } from "cloud-sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type LocalServer, startLocalServer } from "../support/local-server.js";
import { type SecretSite, startSecretSite } from "../support/secret-site.js";

const value = "credential-of-the-rules-0123456789";

// Only root can give a server a hosts file of its own.
describe.skipIf(process.getuid?.() !== 0)("egress while a sandbox runs", () => {
  let site: SecretSite;
  let server: LocalServer;
  let client: SandboxClient;

  beforeAll(async () => {
    site = await startSecretSite();
    server = await startLocalServer({
      args: ["--pool", "0", "--trust-ca", site.authority, "--egress-allow-private", site.at],
      through: site.through,
    });
    client = new SandboxClient({ baseUrl: server.url, apiKey: server.apiKey });
  });
  afterAll(async () => {
    await client?.close();
    await server?.stop();
    await site?.[Symbol.asyncDispose]();
  });

  const curl = (path: string, method = "GET", more = ""): string =>
    `curl -sS -o /dev/null -w '%{http_code} ' -X ${method} ${more} -H "authorization: Bearer $TOKEN" 'https://${site.at}${path}'`;

  test("requests with a secret are limited by method and path, and the log says by which rule", async () => {
    const rule = `GET,HEAD ${site.at}/v1/*`;
    const secrets = { TOKEN: { value, hosts: [site.at] } };
    await using sandbox = await client.sandboxes.create({ secrets, egress: { allow: [rule] } });
    site.asked.length = 0;
    const { stdout } = await sandbox.commands.run(
      [
        curl("/v1/a?secret=query"),
        curl("/v1/a", "POST"),
        curl("/v2"),
        curl("/v1/../v2", "GET", "--path-as-is"),
        curl("/v1/b", "GET", "--http2"),
      ].join(";"),
    );
    expect(stdout.trim()).toBe("200 403 403 403 200");
    expect(site.asked.map(({ path }) => path)).toEqual(["/v1/a?secret=query", "/v1/b"]);
    const init = { params: { path: { id: sandbox.id } } };
    const { data: log } = await client.controlPlane.GET("/v1/sandboxes/{id}/egress", init);
    const requests = log?.data.filter(({ protocol }) => protocol === "https").reverse();
    expect(requests?.slice(0, 3)).toMatchObject([
      { decision: "allowed", method: "GET", path: "/v1/a", status: 200, rule: `allow ${rule}` },
      { decision: "refused", method: "POST", path: "/v1/a", rule: `allow ${rule}` },
      { decision: "refused", method: "GET", path: "/v2" },
    ]);
    expect(JSON.stringify(log)).not.toContain("query");
    // Without the secret nobody could see the requests.
    await sandbox.secrets.delete("TOKEN");
    const { stderr } = await sandbox.commands.run(`curl -sS https://${site.at}/v1/a`);
    expect(stderr).toContain("403");
  });

  test("a program waits for a host that no list names, until somebody who was told decides", async () => {
    await using sandbox = await client.sandboxes.create({ egress: { ask: true } });
    expect(await sandbox.egress.get()).toEqual({ allow: undefined, deny: undefined, ask: true });
    const host = site.at.split(":")[0] ?? "";
    const run = () => sandbox.commands.run(`curl -sSk https://${site.at}/held`);
    const held = client.events({ since: "0", sandbox: sandbox.id, types: ["egress.held"] });
    const first = run();
    expect((await held.next()).value).toMatchObject({ host, port: site.port });
    await sandbox.egress.decide({ host, port: site.port, allow: false });
    expect((await first).stderr).toContain("403");
    const second = run();
    await held.next();
    await sandbox.egress.decide({ host, port: site.port, allow: true, always: true });
    expect((await second).stdout).toBe("{}");
    expect((await run()).stdout).toBe("{}");
    await held.return();
    expect((await sandbox.egress.get()).allow).toEqual([site.at]);
    await expect(sandbox.egress.decide({ host, port: site.port, allow: true })).rejects.toMatchObject({
      code: "CONFLICT",
    });
    const refused = client.events({ since: "0", sandbox: sandbox.id, types: ["egress.refused"] });
    expect((await refused.next()).value).toMatchObject({ host, port: site.port });
    await refused.return();
  });
});
