import { SandboxClient } from "cloud-sandbox";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CompanySite, startCompanySite } from "../support/company-site.js";
import type { LocalServer } from "../support/local-server.js";

type Start = (options: { args: readonly string[]; env: Record<string, string> }) => Promise<LocalServer>;

const curl = "command -v curl && curl -sS https://SITE/curl";
const python = `python3 -c 'import urllib.request; urllib.request.urlopen("https://SITE/python")'`;
const node = `node -e 'fetch("https://SITE/node").catch((error) => { console.error(error.cause); process.exit(1) })'`;
const npm = "npm ping --registry https://SITE/npm/ --fetch-retries 0";
const pip = "python3 -m pip download --no-deps --retries 0 --index-url https://SITE/simple/ none";

const programs: Record<string, string> = { curl, python, node, npm, pip };

/** What every runtime keeps: programs trust the authorities that this machine's programs trust. `names`: those that the image has. */
export function authorityStatements(start: Start, names: readonly string[] = Object.keys(programs)): void {
  let site: CompanySite;
  beforeAll(async () => {
    site = await startCompanySite();
  });
  afterAll(() => site?.[Symbol.asyncDispose]());

  const inSandbox = async (
    { args = [], env = {} }: { args?: readonly string[]; env?: Record<string, string> },
    use: (say: (command: string) => Promise<string>) => Promise<void>,
  ): Promise<void> => {
    const server = await start({ args: ["--pool", "0", "--egress-allow-private", site.at, ...args], env });
    try {
      await using client = new SandboxClient({ baseUrl: server.url, apiKey: server.apiKey });
      const sandbox = await client.sandboxes.create({ template: "code-interpreter", timeoutSeconds: 300 });
      await use(async (command) => {
        const { stdout, stderr } = await sandbox.commands.run(command.replace("SITE", site.at));
        return stdout + stderr;
      });
      await sandbox.delete();
    } finally {
      await server.stop();
    }
  };

  test.each([
    ["--trust-ca names", (file: string) => ({ args: ["--trust-ca", file] })],
    ["NODE_EXTRA_CA_CERTS names", (file: string) => ({ env: { NODE_EXTRA_CA_CERTS: file } })],
    ["npm_config_cafile names", (file: string) => ({ env: { npm_config_cafile: file } })],
  ])("programs trust the authority that %s, and those of everybody", async (_, options) => {
    site.asked.clear();
    await inSandbox(options(site.authority), async (say) => {
      for (const name of names) {
        const said = await say(programs[name] ?? "");
        const part = name === "pip" ? "simple" : name;
        expect(
          [...site.asked].some((path) => path.includes(part)),
          said,
        ).toBe(true);
      }
      const everyones = await say('grep -c "BEGIN CERT" "$SSL_CERT_FILE"');
      expect(Number(everyones)).toBeGreaterThan(50);
    });
  });
}
