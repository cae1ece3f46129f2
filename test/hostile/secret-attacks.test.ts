// @module-tag openssl
import type { IncomingMessage, ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { type Sandbox, SandboxClient } from "cloud-sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CredentialLeaks } from "../support/credential-leaks.js";
import { type LocalServer, startLocalServer } from "../support/local-server.js";
import { type SecretSite, startSecretSite } from "../support/secret-site.js";
import { attackTools, secretAttacks } from "./secret-attacks.js";

const credential = "credential-under-attack-0123456789abcdef";
const searched = new CredentialLeaks(credential);
const backwards = searched.needles.map((needle) => [...needle].reverse().join("")).join(",");
const [api, other, blind, strange] = ["api", "other", "blind", "strange"].map(
  (name) => `${name}.secret.test`,
);

// Only root can give a server a hosts file of its own.
describe.skipIf(process.getuid?.() !== 0)("code that attacks a credential gets it by no way:", () => {
  let site: SecretSite;
  let server: LocalServer;
  let client: SandboxClient;
  let sandbox: Sandbox;
  /** What the server got: target, headers and body of each request. */
  const got: { target: string; text: string }[] = [];
  let foreign: string;

  beforeAll(async () => {
    site = await startSecretSite(
      [api, other, blind] as string[],
      (request, response) => {
        const pieces: Buffer[] = [];
        request.on("data", (piece: Buffer) => pieces.push(piece));
        request.on("end", () => {
          const body = Buffer.concat(pieces).toString("latin1");
          const { url = "", rawHeaders } = request;
          got.push({ target: `${request.headers.host}${url}`, text: [...rawHeaders, body].join("\n") });
          answer(request, response, body, site.port);
        });
      },
      [strange as string],
    );
    const names = [api, other, blind, strange].map((name) => `${name}:${site.port}`);
    server = await startLocalServer({
      args: [
        ...["--pool", "0", "--trust-ca", site.authority],
        ...names.flatMap((name) => ["--egress-allow-private", name]),
      ],
      through: site.through,
    });
    client = new SandboxClient({ baseUrl: server.url, apiKey: server.apiKey });
    const [hosts, others, strangers] = [0, 1, 3].map((index) => [names[index] as string]);
    const another = await client.sandboxes.create({
      secrets: { TOKEN: { value: credential, hosts: hosts as string[] } },
    });
    foreign = (await another.secrets.list())[0]?.placeholder ?? "";
    sandbox = await client.sandboxes.create({
      secrets: {
        TOKEN: { value: credential, hosts: hosts as string[] },
        RULED: { value: credential, hosts: hosts as string[], paths: ["/v1/*"], methods: ["GET"] },
        OTHER: { value: `${credential}-other`, hosts: others as string[] },
        STRANGE: { value: `${credential}-strange`, hosts: strangers as string[] },
      },
    });
    await sandbox.files.write("/workspace/tools.py", attackTools);
  });
  afterAll(async () => {
    await client?.close();
    await server?.stop();
    await site?.[Symbol.asyncDispose]();
  });

  test.each(secretAttacks)("$tries", { timeout: 120_000 }, async ({ program, prints }) => {
    got.length = 0;
    await sandbox.files.write("/workspace/attack.py", `from tools import *\n${program}\n`);
    const env = { PORT: String(site.port), FOREIGN: foreign, PARTS: backwards };
    const { stdout, stderr } = await sandbox.commands.run("python3 attack.py", { env });
    // A program that ends with a text prints it as an error.
    const printed = stdout === "" ? stderr : stdout;
    expect(printed).toMatch(prints);
    expect(searched.in("program", stdout + stderr)).toEqual([]);
    expect(searched.in("log", server.log())).toEqual([]);
    const { data } = await client.controlPlane.GET("/v1/sandboxes/{id}/egress", {
      params: { path: { id: sandbox.id } },
    });
    expect(searched.in("log of egress", JSON.stringify(data))).toEqual([]);
    // Only its own host got it, in one header.
    const withIt = got.filter(({ text }) => searched.in("request", text).length > 0);
    for (const { target, text } of withIt) {
      expect(target).toMatch(new RegExp(`^(?:${api}|${other}):`));
      expect(text.replace(/authorization\n[^\n]*/gi, "")).not.toContain(credential);
    }
    expect(got.map(({ target }) => target)).not.toContain(expect.stringContaining("smuggled"));
  });

  test.each<[string, object, string]>([
    ["a line break in the value", { value: `${credential}\r\nx: y` }, "value"],
    ["a value of seven bytes", { value: credential.slice(0, 7) }, "value"],
    ["a value of a megabyte", { value: credential.repeat(300) }, "value"],
    ["all hosts", { hosts: ["*"] }, "hosts"],
    ["an address", { hosts: ["127.0.0.1"] }, "hosts"],
    ["this machine", { hosts: ["localhost"] }, "hosts"],
    ["many hosts", { hosts: Array.from({ length: 33 }, (_, index) => `h${index}.secret.test`) }, "hosts"],
    ["a header that says how a request is sent", { headers: { "content-length": "{value}" } }, "headers"],
    ["a header twice", { headers: { "X-Key": "{value}", "x-key": "{value}" } }, "header twice"],
  ])(
    "a create with %s is refused by the field's name, and never repeats the value",
    async (_, wrong, field) => {
      const secrets = { TOKEN: { value: credential, hosts: [`${api}:${site.port}`], env: true, ...wrong } };
      const response = await fetch(`${server.url}/v1/sandboxes`, {
        method: "POST",
        headers: { "x-api-key": server.apiKey, "content-type": "application/json" },
        body: JSON.stringify({ template_name: "base", secrets }),
      });
      const text = await response.text();
      expect(response.status, text).toBe(400);
      expect(text).toContain(field);
      expect(text).not.toContain(credential);
    },
  );

  test("a stored secret of another API key does not exist", async () => {
    await client.secrets.set("mine", { value: credential, hosts: [`${api}:${site.port}`] });
    const { data: key } = await client.controlPlane.POST("/v1/keys", { body: { name: "another" } });
    await using stranger = new SandboxClient({ baseUrl: server.url, apiKey: key?.key ?? "" });
    expect(await stranger.secrets.list()).toEqual([]);
    await expect(stranger.sandboxes.create({ secrets: { TOKEN: { from: "mine" } } })).rejects.toMatchObject({
      code: "SECRET_NOT_FOUND",
    });
  });
});

/** Answers as a server does that repeats what it gets, in ways of its own. */
function answer(request: IncomingMessage, response: ServerResponse, body: string, port: number): void {
  const { authorization = "" } = request.headers;
  const token = authorization.replace(/^\w+ /, "");
  const path = (request.url ?? "").split("?")[0];
  if (path === "/redirect")
    return void response.writeHead(302, { location: `https://${blind}:${port}/echo?key=${token}` }).end();
  if (path === "/header") response.setHeader("x-echo", authorization);
  if (path === "/reason") return void response.writeHead(200, `OK ${token}`).end();
  if (path === "/parts") {
    response.write(token.slice(0, 10));
    return void setImmediate(() => response.end(token.slice(10)));
  }
  if (path === "/gzip") {
    response.setHeader("content-encoding", "gzip");
    return void response.end(gzipSync(JSON.stringify(request.headers)));
  }
  response.end(path === "/echo" ? JSON.stringify(request.headers) + body : "ok");
}
