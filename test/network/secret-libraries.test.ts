// @module-tag openssl
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createSecureServer, type Http2SecureServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { type Sandbox, SandboxClient } from "cloud-sandbox";
import { type LocalControlPlane, startLocalControlPlane } from "cloud-sandbox-local";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { scratchProject } from "../support/scratch-project.js";
import { scratchPython } from "../support/scratch-python.js";
import { type SecretSite, startSecretSite } from "../support/secret-site.js";

const name = "api.secret.test";
const credential = "credential-of-libraries-0123456789";

let site: SecretSite;
let origin: Http2SecureServer;
let local: LocalControlPlane;
let client: SandboxClient;
let sandbox: Sandbox;
/** The credential in each request, with the version of HTTP. */
const got: string[] = [];

beforeAll(async () => {
  site = await startSecretSite(name);
  const read = (file: string) => readFile(join(dirname(site.authority), file));
  origin = createSecureServer({
    key: await read("site.key"),
    cert: await read("site.pem"),
    allowHTTP1: true,
  });
  origin.on("request", ({ headers, httpVersionMajor }, response) => {
    got.push(`${httpVersionMajor} ${headers.authorization ?? headers["x-api-key"]}`);
    if (headers["content-type"] !== "application/grpc") return response.end("hello");
    response.setHeader("content-type", "application/grpc");
    response.addTrailers({ "grpc-status": "0" });
    // A message of gRPC: not compressed, of five bytes.
    response.end(Buffer.concat([Buffer.from([0, 0, 0, 0, 5]), Buffer.from("hello")]));
  });
  origin.listen(0, "127.0.0.1");
  await once(origin, "listening");
  const python = await scratchPython(["httpx==0.28.1", "aiohttp==3.14.5", "grpcio==1.85.3"]);
  const deno = `@deno/linux-${process.arch}-glibc`;
  const binary = join(await scratchProject(deno.replace("/", "-"), [`${deno}@2.9.6`]), "node_modules", deno);
  local = await startLocalControlPlane({
    pool: 0,
    trustCa: [site.authority],
    allowMounts: [python, binary],
    egress: {
      allowPrivate: [at()],
      resolve: async (asked) => (asked === name ? ["127.0.0.1"] : []),
    },
  });
  client = new SandboxClient({ apiKey: local.apiKey, baseUrl: local.url });
  sandbox = await client.sandboxes.create({
    limits: { memoryMb: 2048 },
    mounts: { "/python": { host: python, readOnly: true }, "/deno": { host: binary, readOnly: true } },
    secrets: {
      TOKEN: { value: credential, hosts: [at()] },
      KEY: {
        value: `${credential}-set`,
        hosts: [at()],
        headers: { "x-api-key": "{value}" },
        paths: ["/page"],
      },
    },
  });
});

afterAll(async () => {
  await client?.close();
  await local?.close();
  origin?.close();
  await site?.[Symbol.asyncDispose]();
});

const at = (): string => `${name}:${(origin.address() as AddressInfo).port}`;
const python = (code: string): string => `PYTHONPATH=/python python3 - <<'END'\nimport os\n${code}\nEND`;
const headers = `{"authorization": "Bearer " + os.environ["TOKEN"]}`;

const libraries: readonly (readonly [string, () => string, string, string])[] = [
  [
    "httpx",
    () => python(`import httpx\nprint(httpx.get("https://${at()}/", headers=${headers}).text)`),
    "hello",
    `1 Bearer ${credential}`,
  ],
  [
    "aiohttp",
    () =>
      python(`import aiohttp, asyncio
async def ask():
    async with aiohttp.ClientSession(trust_env=True) as session:
        async with session.get("https://${at()}/", headers=${headers}) as answer: print(await answer.text())
asyncio.run(ask())`),
    "hello",
    `1 Bearer ${credential}`,
  ],
  [
    "gRPC",
    () =>
      python(`import grpc
channel = grpc.secure_channel("${at()}", grpc.ssl_channel_credentials())
call = channel.unary_unary("/test.Greeter/Greet", request_serializer=None, response_deserializer=None)
print(call(b"hi", metadata=[("authorization", "Bearer " + os.environ["TOKEN"])], timeout=20).decode())`),
    "hello",
    `2 Bearer ${credential}`,
  ],
  [
    "Deno",
    () => `cat > ask.ts <<'END'
const headers = { authorization: "Bearer " + Deno.env.get("TOKEN") };
console.log(await (await fetch("https://${at()}/", { headers })).text());
END
DENO_DIR=/tmp/deno /deno/deno run --no-config --allow-all ask.ts`,
    "hello",
    `1 Bearer ${credential}`,
  ],
  [
    "Chromium",
    () =>
      `timeout 60 chromium --headless --no-sandbox --disable-gpu --user-data-dir=/tmp/chromium --dump-dom https://${at()}/page 2>/dev/null`,
    "hello",
    `1 ${credential}-set`,
  ],
];

// Only root mounts directories of its machine.
describe.skipIf(process.getuid?.() !== 0)("a library sends a credential that it does not have:", () => {
  test.each(libraries)("%s", { timeout: 100_000 }, async (library, command, printed, expected) => {
    if (library === "Chromium" && !existsSync("/usr/bin/chromium")) return;
    got.length = 0;
    const { stdout, stderr } = await sandbox.execute(command(), { language: "bash", timeoutSeconds: 90 });
    expect(stdout, stderr).toContain(printed);
    expect(got).toContain(expected);
    expect(stdout + stderr).not.toContain(credential);
  });
});
