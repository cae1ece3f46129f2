// @module-tag openssl
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SandboxClient } from "cloud-sandbox";
import { describe, expect, onTestFinished, test } from "vitest";
import { runBuilt } from "../support/built-program.js";
import { startCompanySite } from "../support/company-site.js";
import { startLocalServer } from "../support/local-server.js";
import { authorityStatements } from "./authority-statements.js";

describe("in a sandbox,", () => {
  authorityStatements((options) => startLocalServer(options));
});

test("programs without a sandbox, and those that read no variable, trust the authority too", async () => {
  await using site = await startCompanySite();
  const args = ["--pool", "0", "--egress-allow-private", site.at, "--trust-ca", site.authority];
  const server = await startLocalServer({ args });
  onTestFinished(() => void server.stop());
  await using client = new SandboxClient({ baseUrl: server.url, apiKey: server.apiKey });
  const ask = `env -u SSL_CERT_FILE -u CURL_CA_BUNDLE wget -qO- https://${site.at}/wget; curl -sS https://${site.at}/curl`;
  const { stderr } = await client.executeIsolated(ask, { language: "bash" });
  expect(stderr).toBe("");
  expect([...site.asked]).toEqual(["/wget", "/curl"]);
});

test.each([
  ["trusted", true, "200 {}"],
  ["not trusted", false, "502 .* did not prove by TLS that it is this server"],
])(
  "a request without a tunnel, as some libraries send it, is secured by the proxy: %s",
  async (_, isTrusted, said) => {
    await using site = await startCompanySite();
    const trusted = isTrusted ? ["--trust-ca", site.authority] : [];
    const server = await startLocalServer({
      args: ["--pool", "0", "--egress-allow-private", site.at, ...trusted],
    });
    onTestFinished(() => void server.stop());
    await using client = new SandboxClient({ baseUrl: server.url, apiKey: server.apiKey });
    const ask = `import http.client
proxy = http.client.HTTPConnection("127.0.0.1", 3128)
proxy.request("GET", "https://${site.at}/page")
answer = proxy.getresponse()
print(answer.status, answer.read().decode())`;
    const { stdout } = await client.executeIsolated(ask, { language: "python" });
    expect(stdout).toMatch(new RegExp(`^${said}`));
    expect([...site.asked]).toEqual(isTrusted ? ["/page"] : []);
  },
);

test("programs have no variable, which costs each start of Node.js 20, where there is no such authority", async ({
  skip,
}) => {
  skip(process.getuid?.() !== 0, "only root can hide this machine's own authorities");
  const isOfAuthorities = (name: string): boolean => /_CERT|_CA_|CAFILE|CAINFO/i.test(name);
  const named = Object.keys(process.env).filter(isOfAuthorities);
  const hide = `place=/usr/local/share/ca-certificates; [ ! -d $place ] || mount -t tmpfs none $place
[ ! -e /etc/pip.conf ] || mount --bind /dev/null /etc/pip.conf
exec "$@"`;
  const server = await startLocalServer({
    args: ["--pool", "0"],
    env: {
      ...Object.fromEntries(named.map((name) => [name, ""])),
      PIP_CONFIG_FILE: "/dev/null",
      npm_config_userconfig: "/dev/null",
    },
    through: ["unshare", "--mount", "--propagation", "private", "sh", "-c", hide, "sh"],
  });
  onTestFinished(() => void server.stop());
  await using client = new SandboxClient({ baseUrl: server.url, apiKey: server.apiKey });
  const { stdout } = await client.executeIsolated("import os; print(*os.environ)", { language: "python" });
  expect(stdout).toContain("HTTPS_PROXY");
  expect(stdout.split(/\s/).filter(isOfAuthorities)).toEqual([]);
  await using sandbox = await client.sandboxes.create();
  const listed = (await sandbox.commands.run("env")).stdout
    .split("\n")
    .map((line) => line.split("=")[0] ?? "");
  expect(listed).toContain("HTTPS_PROXY");
  expect(listed.filter(isOfAuthorities)).toEqual([]);
});

test("Java of Debian, which reads no variable, trusts the authority too", async ({ skip }) => {
  skip(
    !existsSync("/usr/bin/javac") || !existsSync("/etc/ssl/certs/java/cacerts"),
    "there is no JDK of Debian on this machine",
  );
  await using site = await startCompanySite();
  const args = ["--pool", "0", "--egress-allow-private", site.at, "--trust-ca", site.authority];
  const server = await startLocalServer({ args });
  onTestFinished(() => void server.stop());
  await using client = new SandboxClient({ baseUrl: server.url, apiKey: server.apiKey });
  // Java's own settings of proxies leave out all addresses of loopback, such as the site's.
  const program = `import java.net.*;
class Fetch {
  public static void main(String[] words) throws Exception {
    Proxy proxy = new Proxy(Proxy.Type.HTTP, new InetSocketAddress("127.0.0.1", 3128));
    System.out.print(new String(new URL(words[0]).openConnection(proxy).getInputStream().readAllBytes()));
  }
}`;
  const { stdout, stderr } = await client.executeIsolated(
    `cat >Fetch.java <<'X'\n${program}\nX
java Fetch.java https://${site.at}/java
keytool -list -cacerts -storepass changeit | grep -c trustedCert`,
    { language: "bash", timeoutSeconds: 60 },
  );
  expect(stdout, stderr).toMatch(/^\{\}\d{3}\n$/);
  expect([...site.asked]).toEqual(["/java"]);
});

test("doctor tells of the authorities of --trust-ca, and refuses a file without one", async () => {
  await using site = await startCompanySite();
  const { stdout } = await runBuilt("local", ["doctor", "--trust-ca", site.authority]);
  expect(stdout).toContain(`beside everybody's: --trust-ca ${site.authority} (1)`);
  expect(stdout).toContain("Programs with authorities built in do not trust them");
  const { code, stderr } = await runBuilt("local", ["doctor", "--trust-ca", "/no-such-file"]);
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringContaining("/no-such-file cannot be trusted"),
  });
});

test.each([
  ["does not exist", undefined, /ENOENT/],
  ["has no certificate", "nothing", /has no certificate\. Name a file with certificates in PEM/],
])("a server is not started with a file of --trust-ca that %s", async (_, content, said) => {
  const directory = await mkdtemp(join(tmpdir(), "authority-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const file = join(directory, "ca.pem");
  if (content !== undefined) await writeFile(file, content);
  const { code, stderr } = await runBuilt("local", ["serve", "--trust-ca", file]);
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(said) });
  expect(stderr).toContain(file);
});
