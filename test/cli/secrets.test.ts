// @module-tag openssl
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runBuilt } from "../support/built-program.js";
import { type LocalServer, startLocalServer } from "../support/local-server.js";
import { type SecretSite, startSecretSite } from "../support/secret-site.js";

const credential = "credential-of-the-command-0123456789";

// Only root can give a server a hosts file of its own.
describe.skipIf(process.getuid?.() !== 0)("cloud-sandbox run --secret", () => {
  let site: SecretSite;
  let server: LocalServer;
  let env: Record<string, string>;

  beforeAll(async () => {
    site = await startSecretSite();
    server = await startLocalServer({
      args: ["--pool", "0", "--trust-ca", site.authority, "--egress-allow-private", site.at],
      through: site.through,
    });
    env = { CLOUD_SANDBOX_API_KEY: server.apiKey, CLOUD_SANDBOX_BASE_URL: server.url };
  });
  afterAll(async () => {
    await server?.stop();
    await site?.[Symbol.asyncDispose]();
  });

  const code = () =>
    `fetch("https://${site.at}/run", { headers: { authorization: "Bearer " + process.env.TOKEN } }).then(() => console.log(process.env.TOKEN))`;

  test.each<[string, () => Promise<{ option: string; variables: Record<string, string> }>]>([
    ["a variable", async () => ({ option: `TOKEN@${site.at}`, variables: { TOKEN: credential } })],
    [
      "a file",
      async () => {
        const file = join(dirname(site.authority), "token");
        await writeFile(file, `${credential}\n`);
        return { option: `TOKEN=@${file}@${site.at}`, variables: {} };
      },
    ],
  ])("takes the credential from %s", async (_, make) => {
    const { option, variables } = await make();
    site.asked.length = 0;
    const run = await runBuilt("cli", ["run", "-l", "javascript", "-c", code(), "--secret", option], {
      env: { ...env, ...variables },
    });
    expect(run).toMatchObject({ code: 0, stdout: expect.stringMatching(/^csb_secret_[0-9a-f]{32}\n$/) });
    expect(site.asked).toMatchObject([{ path: "/run", authorization: `Bearer ${credential}` }]);
  });

  test("stores one that stdin has, and names it", async () => {
    const set = await runBuilt("cli", ["secret", "set", "stored", "--host", site.at], {
      env,
      input: `${credential}\n`,
    });
    expect(set).toMatchObject({ code: 0 });
    const list = await runBuilt("cli", ["secret", "list"], { env });
    expect(list.stdout).toMatch(/stored +api\.secret\.test:\d+ +ready/);
    site.asked.length = 0;
    const words = ["run", "-l", "javascript", "-c", code(), "--secret", "TOKEN:stored"];
    expect(await runBuilt("cli", words, { env })).toMatchObject({ code: 0 });
    expect(site.asked).toMatchObject([{ path: "/run", authorization: `Bearer ${credential}` }]);
    expect(await runBuilt("cli", ["secret", "delete", "stored"], { env })).toMatchObject({ code: 0 });
    const again = await runBuilt("cli", ["secret", "delete", "stored"], { env });
    expect(again.code).not.toBe(0);
    expect(again.stderr).toContain("There is no stored secret stored.");
    const none = await runBuilt("cli", words, { env });
    expect(none.stderr).toContain("There is no stored secret");
    for (const { stdout, stderr } of [set, list, again, none])
      expect(stdout + stderr).not.toContain(credential);
  });

  test.each([
    ["a credential on the command line", `TOKEN=${credential}`, "not given on a command line"],
    ["a variable that is not set", "MISSING_TOKEN@api.example.com", "MISSING_TOKEN is not set here"],
    ["a file that is not there", "TOKEN=@/no/such/file@api.example.com", "cannot be read (ENOENT)"],
    ["a secret without a host", "TOKEN", "NAME@HOST"],
  ])("refuses %s", async (_, option, said) => {
    const { code, stderr } = await runBuilt("cli", ["run", "-c", "1", "--secret", option], { env });
    expect(code).not.toBe(0);
    expect(stderr).toContain(said);
    expect(stderr).not.toContain(credential);
  });
});
