import { SandboxClient } from "cloud-sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { LocalServer } from "../support/local-server.js";
import { type SecretSite, startSecretSite } from "../support/secret-site.js";

export const credential = "credential-of-the-test-0123456789";

type Start = (options: { args: readonly string[]; through: readonly string[] }) => Promise<LocalServer>;

const programs: Readonly<Record<string, string>> = {
  curl: `command -v curl >/dev/null && curl -sS -H "authorization: Bearer $TOKEN" https://SITE/curl`,
  wget: `command -v wget >/dev/null && wget -qO- --header "authorization: Bearer $TOKEN" https://SITE/wget`,
  "Python's urllib": `python3 -c 'import os, urllib.request as u; u.urlopen(u.Request("https://SITE/urllib", headers={"authorization": "Bearer " + os.environ["TOKEN"]}))'`,
  "Python's requests": `python3 -c 'import os; from pip._vendor import requests; requests.get("https://SITE/requests", headers={"authorization": "Bearer " + os.environ["TOKEN"]})'`,
  "Node's fetch": `node -e 'fetch("https://SITE/fetch", { headers: { authorization: "Bearer " + process.env.TOKEN } }).catch((error) => { console.error(error.cause); process.exit(1) })'`,
  "Node's fetch of a Request": `node -e 'fetch(new Request("https://SITE/request", { headers: new Headers({ authorization: "Bearer " + process.env.TOKEN }) }))'`,
  "Node's https": `node -e 'require("https").get("https://SITE/https", { headers: { authorization: "Bearer " + process.env.TOKEN } }, (answer) => answer.resume())'`,
};

/** Asks once for each file `step-1` to `step-3`, when it is there. Node's fetch keeps its connection open. */
const asksInSteps = `
const { existsSync, writeFileSync } = require("fs");
const headers = { authorization: "Bearer " + process.env.TOKEN };
(async () => {
  for (const step of ["step-1", "step-2", "step-3"]) {
    while (!existsSync(step)) await new Promise((resolve) => setTimeout(resolve, 20));
    const ask = () => fetch("https://SITE/" + step, { headers });
    // A connection that was closed may still have been in use.
    const answer = await (step === "step-3" ? ask().catch(ask) : ask());
    await answer.text();
    console.log(step, answer.status);
    writeFileSync(step + "-answered", "");
  }
})();`;

/** What every runtime keeps: programs send a credential that they do not have. `names`: the programs that the image has. */
export function secretStatements(start: Start, names: readonly string[] = Object.keys(programs)): void {
  let site: SecretSite;
  let server: LocalServer;
  let client: SandboxClient;

  beforeAll(async () => {
    site = await startSecretSite();
    server = await start({
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

  const secrets = () => ({ TOKEN: { value: credential, hosts: [site.at] } });

  describe("programs send a secret that they do not have", () => {
    test.each(names)("%s", async (name) => {
      await using sandbox = await client.sandboxes.create({ secrets: secrets() });
      site.asked.length = 0;
      const command = (programs[name] ?? "").replace("SITE", site.at);
      const { stdout, stderr } = await sandbox.commands.run(`env | grep ^TOKEN=; ${command}`);
      expect(stdout + stderr).not.toContain(credential);
      expect(stdout).toMatch(/^TOKEN=csb_secret_[0-9a-f]{32}$/m);
      expect(
        site.asked.map(({ authorization }) => authorization),
        stdout + stderr,
      ).toEqual([`Bearer ${credential}`]);
    });
  });

  test("a program without a sandbox has secrets too, and the answer confirms them", async () => {
    site.asked.length = 0;
    const response = await fetch(`${server.url}/v1/executions`, {
      method: "POST",
      headers: { "x-api-key": server.apiKey, "content-type": "application/json" },
      body: JSON.stringify({
        language: "bash",
        code: (programs["Node's fetch"] ?? "").replace("SITE", site.at),
        secrets: secrets(),
      }),
    });
    const answer = await response.text();
    expect(JSON.parse(answer), answer).toMatchObject({
      success: true,
      secrets: [{ name: "TOKEN", state: "ready" }],
    });
    expect(answer).not.toContain(credential);
    expect(site.asked[0]?.authorization).toBe(`Bearer ${credential}`);
  });

  test("a sandbox gets, changes and loses a secret while it runs", async () => {
    await using sandbox = await client.sandboxes.create({ secrets: {} });
    const ask = () => sandbox.commands.run((programs["Node's fetch"] ?? "").replace("SITE", site.at));
    expect(await sandbox.secrets.list()).toEqual([]);
    const { placeholder } = await sandbox.secrets.set("TOKEN", { value: credential, hosts: [site.at] });
    site.asked.length = 0;
    await ask();
    expect(await sandbox.secrets.set("TOKEN", { value: `${credential}-2`, hosts: [site.at] })).toMatchObject({
      placeholder,
    });
    await ask();
    expect(site.asked.map(({ authorization }) => authorization)).toEqual([
      `Bearer ${credential}`,
      `Bearer ${credential}-2`,
    ]);
    await sandbox.secrets.delete("TOKEN");
    expect(await sandbox.secrets.list()).toEqual([]);
    const { stdout } = await sandbox.commands.run("env");
    expect(stdout).not.toContain("TOKEN=");
  });

  test("a stored secret is another one in the next request, also over a connection that is open", async () => {
    await client.secrets.set("rotated", { value: credential, hosts: [site.at] });
    await using sandbox = await client.sandboxes.create({ secrets: { TOKEN: { from: "rotated" } } });
    await sandbox.files.write("asks.cjs", asksInSteps.replace("SITE", site.at));
    site.asked.length = 0;
    const asking = sandbox.commands.run("node asks.cjs");
    const step = async (number: number) => {
      await sandbox.files.write(`step-${number}`, "");
      await expect.poll(() => sandbox.files.exists(`step-${number}-answered`)).toBe(true);
    };
    await step(1);
    await client.secrets.set("rotated", { value: `${credential}-2`, hosts: [site.at] });
    await step(2);
    await client.secrets.delete("rotated");
    await sandbox.files.write("step-3", "");
    const { stdout, stderr } = await asking;
    expect({ stdout, stderr }).toEqual({ stdout: "step-1 200\nstep-2 200\nstep-3 502\n", stderr: "" });
    expect(site.asked.map(({ authorization }) => authorization)).toEqual([
      `Bearer ${credential}`,
      `Bearer ${credential}-2`,
    ]);
    expect(new Set(site.asked.map(({ from }) => from)).size).toBe(1);
  });

  test("a sandbox that was created without secrets cannot be given one", async () => {
    await using sandbox = await client.sandboxes.create();
    await expect(sandbox.secrets.set("TOKEN", { value: credential, hosts: [site.at] })).rejects.toThrow(
      /created without secrets/,
    );
  });
}
