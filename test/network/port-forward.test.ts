import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { request } from "node:http";
import { connect, createServer, type Socket } from "node:net";
import { buffer, text } from "node:stream/consumers";
import { type PortForward, type Sandbox, SandboxClient, type SandboxError } from "cloud-sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type LocalServer, startLocalServer } from "../support/local-server.js";

/** Reads until the caller has ended its direction, and answers with the digest and the bytes. */
const digesting = `import hashlib, socketserver
class Digest(socketserver.StreamRequestHandler):
    def handle(self):
        sent = self.rfile.read()
        self.wfile.write(hashlib.sha256(sent).hexdigest().encode() + sent)
class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
Server(("127.0.0.1", 5432), Digest).serve_forever()
`;

let server: LocalServer;
let client: SandboxClient;
let sandbox: Sandbox;

beforeAll(async () => {
  server = await startLocalServer({ args: ["--pool", "0"] });
  client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
  sandbox = await newSandbox();
});
afterAll(async () => {
  await client?.close();
  await server?.stop();
});

describe("a forwarded port", () => {
  test("carries bytes both ways, each direction of which ends by itself", async () => {
    await using forward = await sandbox.ports.forward(5432);
    expect(forward).toMatchObject({ port: 5432, localHost: "127.0.0.1" });
    const contents = [randomBytes(32 * 1024 * 1024), Buffer.alloc(0), Buffer.from("short")];
    const answers = contents.map((content) => {
      const connection = open(forward);
      connection.end(content);
      return buffer(connection);
    });
    for (const [index, content] of contents.entries()) {
      const digest = createHash("sha256").update(content).digest("hex");
      const expected = Buffer.concat([Buffer.from(digest), content]);
      expect((await answers[index])?.equals(expected)).toBe(true);
    }
  });

  test.each([
    ["nothing listens", 4444, { code: "PORT_NOT_LISTENING", status: 404 }],
    ["the agent's own is", 3128, { code: "PORT_NOT_ALLOWED", status: 403 }],
  ])("where %s cuts off who connects, and says why", async (_, port, why) => {
    const errors: SandboxError[] = [];
    await using forward = await sandbox.ports.forward(port, { onError: (error) => errors.push(error) });
    const connection = open(forward);
    await expect(text(connection)).rejects.toMatchObject({ code: "ECONNRESET" });
    await expect.poll(() => errors).toEqual([expect.objectContaining(why)]);
  });

  test("of a paused sandbox says so, and works again after it was resumed", async () => {
    const other = await newSandbox();
    const errors: SandboxError[] = [];
    await using forward = await other.ports.forward(5432, { onError: (error) => errors.push(error) });
    await other.pause();
    await expect(text(open(forward))).rejects.toMatchObject({ code: "ECONNRESET" });
    await expect.poll(() => errors).toEqual([expect.objectContaining({ code: "SANDBOX_PAUSED" })]);
    await other.resume();
    const connection = open(forward);
    connection.end("again");
    expect(await text(connection)).toMatch(/again$/);
    await other.delete();
  });

  test.each<[string, (of: Sandbox) => Promise<unknown>]>([
    ["its client deletes the sandbox", (of) => of.delete()],
    ["somebody else has deleted the sandbox", deleteElsewhere],
  ])("closes with its connections when %s", async (_, end) => {
    const other = await newSandbox();
    const errors: SandboxError[] = [];
    await using forward = await other.ports.forward(5432, { onError: (error) => errors.push(error) });
    const { localHost: host, localPort: port } = forward;
    const connection = connect({ host, port });
    connection.write("begun");
    await connected(other);
    const closed = once(connection.resume(), "close").catch(() => undefined);
    await end(other);
    await closed;
    // A connection finds out that the sandbox has ended.
    await text(connect({ host, port })).catch(() => undefined);
    await forward.closed;
    await expect(once(connect({ host, port }), "connect")).rejects.toMatchObject({ code: "ECONNREFUSED" });
    for (const error of errors) expect(error.code).toBe("SANDBOX_NOT_FOUND");
  });

  test.each<[string, (own: SandboxClient, forward: PortForward) => Promise<void>]>([
    ["it is closed", (_, forward) => forward.close()],
    ["its client is closed", (own) => own.close()],
  ])("closes its connections when %s, and listens no more", async (_, close) => {
    await using own = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
    const forward = await (await own.sandboxes.get(sandbox.id)).ports.forward(5432);
    const connection = open(forward);
    connection.write("begun");
    await connected(sandbox);
    const closed = once(connection.resume(), "close").catch(() => undefined);
    await close(own, forward);
    await closed;
    await expect(once(open(forward), "connect")).rejects.toMatchObject({ code: "ECONNREFUSED" });
    await expect.poll(() => established(sandbox)).toBe("");
  });

  test("that another program uses, or that does not exist, is refused", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port: localPort } = other.address() as { port: number };
    await expect(sandbox.ports.forward(5432, { localPort })).rejects.toMatchObject({
      code: "LOCAL_PORT_UNAVAILABLE",
      message: expect.stringContaining(`port ${localPort} of 127.0.0.1: another program uses it`),
    });
    other.close();
    await expect(sandbox.ports.forward(5432, { localHost: "192.0.2.1" })).rejects.toMatchObject({
      code: "LOCAL_ADDRESS_UNAVAILABLE",
      message: expect.stringMatching(/this machine does not have that address.* localHost/),
    });
    for (const wrong of [{ localPort: -1 }, { localPort: 65_536 }, { localHost: "" }])
      await expect(sandbox.ports.forward(5432, wrong)).rejects.toThrow(/^local(Port|Host) must be/);
    await expect(sandbox.ports.forward(0)).rejects.toThrow(/^A port is a whole number/);
  });
});

describe("a port tunnel", () => {
  test.each([
    ["without a token", "/ports/5432/tunnel", undefined, 401, "AUTHENTICATION_REQUIRED"],
    ["with the account's key", "/ports/5432/tunnel", () => server.apiKey, 401, "AUTHENTICATION_REQUIRED"],
    ["with another sandbox's token", "/ports/5432/tunnel", otherToken, 401, "AUTHENTICATION_REQUIRED"],
    ["with a forged token", "/ports/5432/tunnel", forgedToken, 401, "INVALID_TOKEN"],
    ["to a port that there is not", "/ports/70000/tunnel", ownToken, 404, "NOT_FOUND"],
    ["at another path", "/files/tunnel", ownToken, 404, "NOT_FOUND"],
  ])("%s is refused", async (_, path, token, status, code) => {
    const answer = await upgrade(path, await token?.());
    expect([answer.statusCode, JSON.parse(await text(answer))]).toEqual([
      status,
      expect.objectContaining({ code }),
    ]);
  });
});

async function newSandbox(): Promise<Sandbox> {
  const created = await client.sandboxes.create({ template: "code-interpreter" });
  await created.files.write("/workspace/digest.py", digesting);
  await created.commands.runBackground("python3 /workspace/digest.py");
  await created.ports.waitForPort(5432);
  return created;
}

async function deleteElsewhere({ id }: Sandbox): Promise<void> {
  await using another = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
  await another.sandboxes.delete(id);
}

/** Connects, and leaves the other direction open when one ends. */
const open = ({ localHost, localPort }: PortForward): Socket =>
  connect({ host: localHost, port: localPort, allowHalfOpen: true });

/** Waits until a connection to the port has arrived in the sandbox. */
async function connected(sandbox: Sandbox): Promise<void> {
  await expect.poll(() => established(sandbox)).not.toBe("");
}

/** The kernel's list of connections to the port in the sandbox. */
async function established({ commands }: Sandbox): Promise<string> {
  const { stdout } = await commands.run(`awk '$2 ~ /:${(5432).toString(16)}$/ && $4 == "01"' /proc/net/tcp`);
  return stdout;
}

async function ownToken(id = sandbox.id): Promise<string> {
  const path = "/v1/sandboxes/{id}/token/refresh";
  const { data } = await client.controlPlane.POST(path, { params: { path: { id } } });
  return data?.auth_token ?? "";
}

async function otherToken(): Promise<string> {
  await using other = await client.sandboxes.create({ template: "base" });
  return ownToken(other.id);
}

async function forgedToken(): Promise<string> {
  return (await ownToken()).replace(/[^.]+$/, (signature) => signature.split("").reverse().join(""));
}

function upgrade(path: string, token: string | undefined): Promise<import("node:http").IncomingMessage> {
  const headers = {
    connection: "Upgrade",
    upgrade: "cloud-sandbox-port",
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  };
  return new Promise((resolve, reject) => {
    const call = request(`${server.url}/agent/${sandbox.id}${path}`, { headers }, resolve);
    call.on("error", reject).on("upgrade", () => reject(new Error("The tunnel was opened")));
    call.end();
  });
}
