// @module-tag git
// @module-tag openssl
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Sandbox, SandboxClient } from "cloud-sandbox";
import { type LocalControlPlane, startLocalControlPlane } from "cloud-sandbox-local";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { startLocalServer } from "../support/local-server.js";
import { needs } from "../support/needs.js";
import { type PackageServer, startPackageServer } from "../support/package-server.js";
import { killAgent } from "../support/sandbox-agent.js";
import { portInsideStatements } from "./port-inside-statements.js";

const name = "packages.test";

let server: PackageServer;
let local: LocalControlPlane;
let client: SandboxClient;
let sandbox: Sandbox;

beforeAll(async () => {
  server = await startPackageServer(name);
  local = await startLocalControlPlane({
    pool: 1,
    egress: {
      allowPrivate: [`${name}:${server.httpPort}`, `${name}:${server.httpsPort}`],
      resolve: async (asked) => (asked === name ? ["127.0.0.1"] : []),
    },
  });
  client = new SandboxClient({ apiKey: local.apiKey, baseUrl: local.url });
  sandbox = await client.sandboxes.create({ template: "code-interpreter", internetAccess: true });
  await sandbox.files.write("/workspace/ca.pem", server.certificate);
});

afterAll(async () => {
  await client?.close();
  await local?.close();
  await server?.[Symbol.asyncDispose]();
});

async function sh(where: Sandbox, command: string): Promise<string> {
  const { stdout, stderr, exitCode } = await where.execute(command, {
    language: "bash",
    timeoutSeconds: 200,
  });
  return exitCode === 0 ? stdout : `exit ${exitCode}: ${stdout}${stderr}`;
}

const overNode = (code: string): string => `NODE_EXTRA_CA_CERTS=ca.pem node -e '${code}'`;

describe("unmodified programs, through the proxy", () => {
  const http = (): string => `http://${name}:${server.httpPort}`;
  const https = (): string => `https://${name}:${server.httpsPort}`;

  const programs: readonly (readonly [string, string, () => string, string])[] = [
    ["curl over http", "curl", () => `curl -sS ${http()}/hello`, "hello over http"],
    ["curl over https", "curl", () => `curl -sS --cacert ca.pem ${https()}/hello`, "hello over https"],
    [
      "curl over SOCKS5",
      "curl",
      () => `curl -sS --cacert ca.pem --proxy socks5h://127.0.0.1:1080 ${https()}/hello`,
      "hello over https",
    ],
    ["wget over http", "wget", () => `wget -qO- ${http()}/hello`, "hello over http"],
    [
      "wget over https",
      "wget",
      () => `wget -qO- --ca-certificate=ca.pem ${https()}/hello`,
      "hello over https",
    ],
    [
      "pip",
      "python3",
      () =>
        `env -u REQUESTS_CA_BUNDLE python3 -m pip install -q --target lib --cert ca.pem --index-url ${https()}/simple hello-pip && PYTHONPATH=lib python3 -m hello_pip`,
      "installed by pip",
    ],
    [
      "npm",
      "npm",
      () =>
        `mkdir -p n && cd n && npm install --silent --cafile ../ca.pem --registry ${https()}/ hello-npm && node -e 'require("hello-npm")'`,
      "installed by npm",
    ],
    [
      "git over http",
      "git",
      () => `git clone -q ${http()}/repository.git a && git -C a log --format=%s`,
      "cloned through the proxy",
    ],
    [
      "git over https",
      "git",
      () => `GIT_SSL_CAINFO=ca.pem git clone -q ${https()}/repository.git b && git -C b log --format=%s`,
      "cloned through the proxy",
    ],
    [
      "go",
      "go",
      () =>
        `GOPROXY=${https()} GOSUMDB=off SSL_CERT_FILE=ca.pem go install example.test/hello@v1.0.0 && $(go env GOPATH)/bin/hello 2>&1`,
      "installed by go",
    ],
    [
      "Python's urllib",
      "python3",
      () =>
        `SSL_CERT_FILE=ca.pem python3 -c 'import urllib.request as u; print(u.urlopen("${https()}/hello").read().decode())'`,
      "hello over https",
    ],
    [
      "Python's requests",
      "python3",
      () =>
        `python3 -c 'from pip._vendor import requests; print(requests.get("${https()}/hello", verify="ca.pem").text)'`,
      "hello over https",
    ],
    [
      "Node's fetch",
      "node",
      () => overNode(`fetch("${https()}/hello").then((r) => r.text()).then(console.log)`),
      "hello over https",
    ],
    [
      "Node's fetch over http",
      "node",
      () => overNode(`fetch("${http()}/hello").then((r) => r.text()).then(console.log)`),
      "hello over http",
    ],
    [
      "Node's https",
      "node",
      () => overNode(`require("https").get("${https()}/hello", (r) => r.pipe(process.stdout))`),
      "hello over https",
    ],
    [
      "Node's https with an agent of the program's own",
      "node",
      () =>
        overNode(
          `const https = require("https"); const agent = new https.Agent({ keepAlive: true }); https.get("${https()}/hello", { agent }, (r) => r.pipe(process.stdout).on("unpipe", () => agent.destroy()))`,
        ),
      "hello over https",
    ],
    [
      "Node's https with a class of agents that uses the socket at once",
      "node",
      () =>
        overNode(
          `const https = require("https"); class Kept extends https.Agent { createConnection(options, created) { const socket = super.createConnection(options, created); socket.setNoDelay(true); return socket; } } const agent = new Kept({ keepAlive: true }); const get = (done) => https.get("${https()}/hello", { agent }, (r) => r.on("data", (t) => process.stdout.write(t)).on("end", done)); get(() => get(() => agent.destroy()))`,
        ),
      "hello over https\nhello over https",
    ],
    [
      "Node's http with an agent for one request",
      "node",
      () =>
        overNode(`require("http").get("${http()}/hello", { agent: false }, (r) => r.pipe(process.stdout))`),
      "hello over http",
    ],
    [
      "Node's http",
      "node",
      () => overNode(`require("node:http").get("${http()}/hello", (r) => r.pipe(process.stdout))`),
      "hello over http",
    ],
  ];

  test.for(programs)("%s works", { timeout: 240_000 }, async ([, program, command, expected], { skip }) => {
    const found = await sh(sandbox, `command -v ${program} || echo none`);
    skip(found === "none\n", `there is no ${program} in this sandbox`);
    skip(...needs("python3-pip", command().includes("pip")));
    expect((await sh(sandbox, command())).trim()).toBe(expected);
  });

  test("code in JavaScript fetches without more", async () => {
    const { stdout, stderr } = await sandbox.execute(
      `console.log(await (await fetch("${http()}/hello")).text()); const r = await fetch("http://127.0.0.9/").catch(String); console.log(r);`,
      { language: "javascript" },
    );
    expect({ stdout, stderr }).toEqual({
      stdout: expect.stringMatching(/^hello over http\n\n.*\n$/s),
      stderr: "",
    });
  });

  test("and a server inside is reached without it", { tags: ["curl"] }, async () => {
    const before = server.asked.length;
    const command = `cd /tmp && (python3 -m http.server 8123 >/dev/null 2>&1 &) ; for i in $(seq 600); do curl -fsS http://localhost:8123/ >/dev/null 2>&1 && break; sleep 0.05; done; curl -fsS -o /dev/null -w '%{http_code}' http://127.0.0.1:8123/; ${overNode('fetch("http://localhost:8123/").then((r) => console.log(r.status))')}`;
    expect((await sh(sandbox, command)).trim()).toBe("200200");
    expect(server.asked).toHaveLength(before);
  });
});

describe("without internet access", () => {
  let closed: Sandbox;
  beforeAll(async () => {
    closed = await client.sandboxes.create({ template: "code-interpreter", internetAccess: false });
  });

  test.for([
    ["pip", "python3 -m pip install --retries 1 --target /tmp/x six"],
    ["curl over http", "curl -sS http://a.example/"],
    ["curl over https", "curl -sSv https://a.example/"],
    ["Python's urllib", "python3 -c 'import urllib.request as u; u.urlopen(\"https://a.example/\")'"],
    ["Node's fetch", "node -e 'fetch(\"https://a.example/\").catch((e) => { console.error(e.cause); })'"],
  ] as const)("%s says how to get internet access", async ([, command], { skip }) => {
    skip(...needs("python3-pip", command.includes("pip")));
    skip(...needs("curl", command.startsWith("curl")));
    const { stdout, stderr } = await closed.execute(command, { language: "bash", timeoutSeconds: 60 });
    expect(stdout + stderr).toContain("internet_access: true");
  });

  test("the sandbox says that it has none, and the other that it has", async () => {
    const said = async ({ id }: Sandbox): Promise<unknown> => {
      const { data } = await client.controlPlane.GET("/v1/sandboxes/{id}", { params: { path: { id } } });
      return data?.internet_access;
    };
    expect([await said(closed), await said(sandbox)]).toEqual([false, true]);
  });
});

describe("the control plane, for each sandbox", () => {
  const log = async ({ id }: Sandbox, query: { limit?: number; cursor?: string } = {}) => {
    const { data } = await client.controlPlane.GET("/v1/sandboxes/{id}/egress", {
      params: { path: { id }, query },
    });
    if (!data) throw new Error("no log");
    return data;
  };

  test("applies its lists, and lists its connections page by page", { tags: ["curl"] }, async () => {
    await using narrow = await client.sandboxes.create({
      template: "code-interpreter",
      internetAccess: true,
      egress: { allow: [name], deny: [`*:${server.httpsPort}`] },
    });
    const get = (url: string): Promise<string> => sh(narrow, `curl -sS '${url}'`);
    expect(await get(`http://${name}:${server.httpPort}/hello?secret=1`)).toBe("hello over http\n");
    expect(await get(`http://${name}:${server.httpsPort}/`)).toContain("egress.deny");
    expect(await get("http://other.test/")).toContain("egress.allow");
    // Wait for the log: the proxy sees the end of a connection a moment after the program that opened it has ended.
    await expect.poll(async () => (await log(narrow)).data.some(({ open }) => open)).toBe(false);
    const all = await log(narrow);
    expect(all.data).toMatchObject([
      { host: "other.test", port: 80, decision: "refused", reason: expect.stringContaining("egress.allow") },
      {
        host: name,
        port: server.httpsPort,
        decision: "refused",
        reason: expect.stringContaining("egress.deny"),
      },
      { host: name, address: "127.0.0.1", decision: "allowed", protocol: "http", open: false },
    ]);
    expect(JSON.stringify(all)).not.toContain("secret");
    expect(all.totals).toMatchObject({ allowed: 1, refused: 2, dropped: 0 });
    const first = await log(narrow, { limit: 2 });
    expect(first).toMatchObject({ has_more: true, data: all.data.slice(0, 2) });
    expect((await log(narrow, { limit: 2, cursor: first.next_cursor ?? "" })).data).toEqual(
      all.data.slice(2),
    );
  });

  test("is replaced while it runs, and closes what it refuses now", { tags: ["curl"] }, async () => {
    await using other = await client.sandboxes.create({ template: "code-interpreter" });
    const ask = `curl -sS -o /dev/null -w '%{http_code}' http://${name}:${server.httpPort}/hello`;
    expect(await sh(other, ask)).toBe("200");
    const open = other.executeStream(
      `import socket\ntunnel = socket.create_connection(("127.0.0.1", 3128))\ntunnel.sendall(b"CONNECT ${name}:${server.httpPort} HTTP/1.1\\r\\n\\r\\n")\nprint(tunnel.recv(99), flush=True)\nprint(tunnel.recv(99))`,
      { language: "python" },
    );
    let said = "";
    for await (const event of open) {
      if (event.type !== "stdout") continue;
      if (said === "") await other.egress.set({ allow: [] });
      said += event.text;
    }
    expect(said).toContain("200 Connection established");
    expect(said).toMatch(/b''\s*$/);
    expect(await other.egress.get()).toEqual({ allow: [], deny: undefined });
    expect(await sh(other, ask)).toBe("403");
    await expect(other.egress.set({ allow: ["not a host"] })).rejects.toThrow("egress.allow[0]");
    await other.egress.set({ deny: ["elsewhere.test"] });
    expect(await sh(other, ask)).toBe("200");
    await using closed = await client.sandboxes.create({ internetAccess: false });
    await expect(closed.egress.set({})).rejects.toThrow("internet_access is false");
  });

  test("goes on when the agent was killed", { tags: ["curl"] }, async () => {
    await using killed = await client.sandboxes.create({
      template: "code-interpreter",
      internetAccess: true,
    });
    const command = `curl -sS http://${name}:${server.httpPort}/hello`;
    expect(await sh(killed, command)).toBe("hello over http\n");
    await killAgent(killed);
    await expect.poll(() => sh(killed, command).catch(String)).toBe("hello over http\n");
  });

  test("tells a program of its sandbox's 129th connection why it gets none, over HTTP, CONNECT and SOCKS5", async () => {
    await using full = await client.sandboxes.create({
      template: "code-interpreter",
      internetAccess: true,
    });
    const code = `
import socket
def ask(port, text):
    connection = socket.create_connection(("127.0.0.1", port), 20)
    connection.sendall(text)
    return connection, connection.recv(4096)
tunnel = b"CONNECT ${name}:${server.httpPort} HTTP/1.1\\r\\n\\r\\n"
held = [ask(3128, tunnel) for _ in range(128)]
print({answer[:12] for _, answer in held})
socks = b"\\x05\\x01\\x00\\x05\\x01\\x00\\x03" + bytes([${name.length}]) + b"${name}" + (${server.httpPort}).to_bytes(2, "big")
print(ask(3128, tunnel)[1].split(b"\\r\\n")[0])
print(ask(3128, b"GET http://${name}:${server.httpPort}/hello HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n")[1].split(b"\\r\\n")[0])
connection, answer = ask(1080, socks)
print((answer + connection.recv(4096))[:4])`;
    const { stdout, stderr } = await full.execute(code, { language: "python", timeoutSeconds: 60 });
    const refusal = "429 This sandbox has reached its limit of 128 open connections. Close some.";
    expect(stdout + stderr).toBe(
      `{b'HTTP/1.1 200'}\nb'HTTP/1.1 ${refusal}'\nb'HTTP/1.1 ${refusal}'\nb'\\x05\\x00\\x05\\x01'\n`,
    );
    expect((await log(full, { limit: 1 })).data).toMatchObject([
      { protocol: "socks5", host: name, decision: "failed", reason: refusal.slice(4) },
    ]);
  });

  test("limits the connections of one, and others do not notice", {
    tags: ["curl"],
    timeout: 240_000,
  }, async () => {
    await using greedy = await client.sandboxes.create({
      template: "code-interpreter",
      internetAccess: true,
    });
    const code = `
import socket, resource
resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
held = []
for attempt in range(2000):
    try:
        connection = socket.create_connection(("127.0.0.1", 3128 if attempt % 2 else 1080), 1)
        held.append(connection)
        if len(held) > 400: held.pop(0).close()
    except OSError:
        pass
print("done")`;
    const attack = greedy.execute(code, { language: "python", timeoutSeconds: 200 });
    for (let calls = 0; calls < 5; calls += 1) {
      expect(await sh(sandbox, `curl -sS http://${name}:${server.httpPort}/hello`)).toBe("hello over http\n");
    }
    expect((await attack).stdout).toBe("done\n");
    expect(await sh(sandbox, `curl -sS http://${name}:${server.httpPort}/hello`)).toBe("hello over http\n");
  });

  test("lets nobody else on this machine use the socket, and removes it with the sandbox", async ({
    skip,
  }) => {
    // Find the sockets by their directory: their names are random, so that nobody learns a sandbox's id from them.
    const found = (): string[] =>
      readdirSync(tmpdir())
        .filter((entry) => entry.startsWith(`cloud-sandbox-${process.pid}-`))
        .map((entry) => join(tmpdir(), entry, "egress"))
        .filter((directory) => existsSync(directory))
        .flatMap((directory) => readdirSync(directory).map((name) => join(directory, name)));
    const owned = await client.sandboxes.create({ template: "code-interpreter", internetAccess: true });
    const sockets = found();
    expect(sockets).not.toEqual([]);
    const isRoot = process.getuid?.() === 0;
    for (const path of isRoot ? sockets : []) {
      const script = `require("net").connect(${JSON.stringify(path)}).on("connect", () => process.exit(0)).on("error", (e) => process.exit(e.code === "EACCES" ? 13 : 1))`;
      const other = spawn(
        "setpriv",
        ["--reuid", "54322", "--regid", "54322", "--clear-groups", process.execPath, "-e", script],
        { stdio: "ignore" },
      );
      expect(await once(other, "exit")).toEqual([13, null]);
    }
    await owned.delete();
    expect(sockets.filter((path) => !existsSync(path))).toHaveLength(1);
    skip(!isRoot, "the uids were not checked: these tests were not started by root");
  });
});

test("works for a server that an ordinary user started, with the operator's options", {
  tags: ["curl"],
}, async () => {
  const address = `127.0.0.1:${server.httpPort}`;
  const args = ["--pool", "0", "--egress-allow-private", address, "--egress-deny", "denied.example"];
  const ordinary = await startLocalServer({ who: "an ordinary user", args });
  try {
    await using theirs = new SandboxClient({ apiKey: ordinary.apiKey, baseUrl: ordinary.url });
    await using open = await theirs.sandboxes.create({ template: "base", internetAccess: true });
    // `--noproxy ''` makes curl use the proxy also for loopback; otherwise curl connects inside the sandbox.
    const get = (url: string): Promise<string> => sh(open, `curl -sS --noproxy '' ${url}`);
    expect(await get(`http://${address}/hello`)).toBe("hello over http\n");
    expect(await get("http://127.0.0.1:1/")).toContain("--egress-allow-private");
    expect(await get("http://denied.example/")).toContain("--egress-deny");
  } finally {
    await ordinary.stop();
  }
});

test("git and SSH, which know no proxy variable, connect through the proxy", {
  tags: ["openssh-client"],
}, async () => {
  const seen: string[] = [];
  const host = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    socket.once("data", (bytes) => {
      seen.push(String(bytes).split("\r\n")[0] ?? "");
      socket.end();
    });
    socket.write("SSH-2.0-test\r\n");
  }).listen(0, "127.0.0.2");
  await once(host, "listening");
  const { port } = host.address() as AddressInfo;
  const own = await startLocalServer({
    args: ["--pool", "0", "--egress-allow-private", `127.0.0.2:${port}`],
  });
  onTestFinished(async () => {
    host.close();
    await own.stop();
  });
  await using client = new SandboxClient({ baseUrl: own.url, apiKey: own.apiKey });
  await using git = await client.sandboxes.create();
  const run = async (command: string): Promise<string> => (await git.commands.run(command)).stderr;
  await run(`git ls-remote ssh://git@127.0.0.2:${port}/team/project.git`);
  await run(`ssh -o ProxyCommand="cloud-sandbox-connect %h %p" -p ${port} git@127.0.0.2`);
  expect(seen).toEqual([expect.stringMatching(/^SSH-2\.0-/), expect.stringMatching(/^SSH-2\.0-/)]);
  const refused = await run("git ls-remote ssh://git@127.0.0.2:1/team/project.git");
  expect(refused).toContain("cloud-sandbox-connect: 403 127.0.0.2:1 is not on the public internet");
  expect(await run("cloud-sandbox-connect")).toMatch(/^cloud-sandbox-connect: write .* HOST PORT, or .*\n$/);
});

describe("a port inside, for programs that know no proxy,", () => {
  portInsideStatements((args) => startLocalServer({ args }));
});

test.each([
  ["Java", "java", "java -version 2>&1", /version "\d+/],
  ["Maven", "mvn", "mvn --version", /Apache Maven \d/],
  [
    "OpenSSL",
    "openssl",
    "openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=test -keyout /dev/null 2>&1",
    /BEGIN CERTIFICATE/,
  ],
])("%s, whose settings are in /etc, starts where the host has it", async (name, program, command, said) => {
  const answer = await sh(sandbox, `command -v ${program} >/dev/null || { echo none; exit; }; ${command}`);
  if (answer === "none\n") expect(existsSync(`/usr/bin/${program}`), name).toBe(false);
  else expect(answer).toMatch(said);
});
