// @module-tag git
// @module-tag openssl

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Sandbox, SandboxClient } from "cloud-sandbox";
import { type LocalControlPlane, startLocalControlPlane } from "cloud-sandbox-local";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type PackageServer, startPackageServer } from "../support/package-server.js";

const name = "packages.test";
const credential = "credential-of-packages-0123456789";

let server: PackageServer;
let local: LocalControlPlane;
let client: SandboxClient;
let sandbox: Sandbox;
let directory: string;

beforeAll(async () => {
  server = await startPackageServer(name);
  directory = await mkdtemp(join(tmpdir(), "secret-programs-"));
  const authority = join(directory, "authority.pem");
  await writeFile(authority, server.certificate);
  local = await startLocalControlPlane({
    pool: 0,
    trustCa: [authority],
    egress: {
      allowPrivate: [`${name}:${server.httpsPort}`],
      resolve: async (asked) => (asked === name ? ["127.0.0.1"] : []),
    },
  });
  client = new SandboxClient({ apiKey: local.apiKey, baseUrl: local.url });
  sandbox = await client.sandboxes.create({
    secrets: { TOKEN: { value: credential, hosts: [`${name}:${server.httpsPort}`] } },
  });
});

afterAll(async () => {
  await client?.close();
  await local?.close();
  await server?.[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

const basic = (user: string): string => `Basic ${Buffer.from(`${user}:${credential}`).toString("base64")}`;
const at = (): string => `${name}:${server.httpsPort}`;

/** Programs that send the placeholder in ways of their own, what they print in the end, and the credential that the server gets. */
const programs: readonly (readonly [string, () => string, string, string])[] = [
  [
    "git, with the placeholder in its URL",
    () =>
      `git clone -q https://x-access-token:$TOKEN@${at()}/private/repository.git a && git -C a log --format=%s`,
    "cloned through the proxy",
    basic("x-access-token"),
  ],
  [
    "git, with a header",
    () =>
      `git -c http.extraHeader="authorization: Bearer $TOKEN" clone -q https://${at()}/repository.git b && git -C b log --format=%s`,
    "cloned through the proxy",
    `Bearer ${credential}`,
  ],
  [
    "git, which pushes and fetches",
    () => `git clone -q https://x-access-token:$TOKEN@${at()}/git/pushed.git c && cd c && head -c 4000000 /dev/urandom > large && git add large &&
git -c user.name=test -c user.email=test@example.test commit -q -m "pushed through the proxy" && git push -q origin HEAD:main && cd .. &&
git init -q d && cd d && git fetch -q https://x-access-token:$TOKEN@${at()}/git/pushed.git main && git log --format=%s FETCH_HEAD`,
    "pushed through the proxy",
    basic("x-access-token"),
  ],
  [
    "pip",
    () =>
      `python3 -m pip install -q --target lib --index-url https://user:$TOKEN@${at()}/simple hello-pip && PYTHONPATH=lib python3 -m hello_pip`,
    "installed by pip",
    basic("user"),
  ],
  [
    "npm",
    () =>
      `mkdir -p n && cd n && printf '//${at()}/:_authToken=%s\\nregistry=https://${at()}/\\n' "$TOKEN" > .npmrc && npm install --silent hello-npm && node -e 'require("hello-npm")'`,
    "installed by npm",
    `Bearer ${credential}`,
  ],
  [
    "go",
    () =>
      `printf 'machine ${name} login user password %s\\n' "$TOKEN" > ~/.netrc && GOPROXY=https://${at()} GOSUMDB=off go install example.test/hello@v1.0.0 && $(go env GOPATH)/bin/hello 2>&1`,
    "installed by go",
    basic("user"),
  ],
  [
    "Java",
    () => `cat > Ask.java <<'END'
import java.net.*; import java.net.http.*;
public class Ask { public static void main(String[] a) throws Exception {
  var client = HttpClient.newBuilder().proxy(ProxySelector.of(new InetSocketAddress("127.0.0.1", 3128))).build();
  var ask = HttpRequest.newBuilder(URI.create("https://${at()}/hello")).header("authorization", "Bearer " + System.getenv("TOKEN")).build();
  System.out.print(client.send(ask, HttpResponse.BodyHandlers.ofString()).body()); } }
END
java Ask.java`,
    "hello over https",
    `Bearer ${credential}`,
  ],
];

describe("a program sends a credential that it does not have:", () => {
  test.each(programs)("%s", { timeout: 200_000 }, async (_, command, printed, authorization) => {
    server.authorizations.clear();
    const { stdout, stderr } = await sandbox.execute(command(), { language: "bash", timeoutSeconds: 180 });
    expect(stdout + stderr).toContain(printed);
    expect([...server.authorizations]).toContain(authorization);
    expect(stdout + stderr).not.toContain(credential);
  });
});
