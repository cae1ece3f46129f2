import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { buffer } from "node:stream/consumers";
import { SandboxClient } from "cloud-sandbox";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { runBuilt } from "../support/built-program.js";
import { type LocalServer, startLocalServer } from "../support/local-server.js";

const host = "sandboxes.corp.test";

/** A server that has a name which only the proxy knows. */
let server: LocalServer;
let proxy: Server;
let baseUrl: string;
const asked = new Set<string>();

beforeAll(async () => {
  server = await startLocalServer({ args: ["--pool", "0", "--allowed-host", host] });
  const { port } = new URL(server.url);
  baseUrl = `http://${host}:${port}`;
  proxy = createServer().listen(0, "127.0.0.1");
  proxy.on("connect", ({ url }, client) => {
    asked.add(url ?? "");
    const upstream = connect({ port: Number(port), host: "127.0.0.1", allowHalfOpen: true }, () =>
      client.write("HTTP/1.1 200 Connected\r\n\r\n"),
    );
    for (const side of [client, upstream]) side.on("error", () => side.destroy());
    upstream.pipe(client).pipe(upstream);
  });
  await once(proxy, "listening");
  vi.stubEnv("HTTP_PROXY", `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`);
  vi.stubEnv("NO_PROXY", "");
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await server?.stop();
  proxy?.closeAllConnections();
  proxy?.close();
});

describe("a client whose network reaches the server through a proxy only", () => {
  test("runs commands, transfers files, opens terminals and forwards ports", async () => {
    await using client = new SandboxClient({ baseUrl, apiKey: server.apiKey });
    const sandbox = await client.sandboxes.create({ template: "base", timeoutSeconds: 120 });
    expect((await sandbox.commands.run("echo reached")).stdout).toBe("reached\n");
    const content = randomBytes(40 * 1024 * 1024);
    await sandbox.files.write("/workspace/large", content);
    expect(content.equals(Buffer.from(await sandbox.files.readBytes("/workspace/large")))).toBe(true);
    let streamed = "";
    for await (const event of sandbox.executeStream("echo streamed", { language: "bash" }))
      if (event.type === "stdout") streamed += event.text;
    expect(streamed).toBe("streamed\n");
    await sandbox.commands.run(
      `cat > echo.py <<'END'
import socketserver
class Echo(socketserver.StreamRequestHandler):
    def handle(self):
        self.wfile.write(self.rfile.read())
socketserver.TCPServer(("127.0.0.1", 5432), Echo).serve_forever()
END
(python3 echo.py >/dev/null 2>&1 &)
until (exec 3<>/dev/tcp/127.0.0.1/5432) 2>/dev/null; do sleep 0.1; done`,
    );
    await using forward = await sandbox.ports.forward(5432);
    const connection = connect({ port: forward.localPort, host: "127.0.0.1", allowHalfOpen: true });
    connection.end("half open");
    expect(String(await buffer(connection))).toBe("half open");
    await sandbox.delete();
    expect([...asked]).toEqual([`${host}:${new URL(baseUrl).port}`]);
  });

  test("may be the command", async () => {
    const env = {
      CLOUD_SANDBOX_BASE_URL: baseUrl,
      CLOUD_SANDBOX_API_KEY: server.apiKey,
      HTTP_PROXY: process.env.HTTP_PROXY ?? "",
    };
    const { stdout, stderr } = await runBuilt("cli", ["run", "-l", "bash", "-c", "echo from the command"], {
      env,
    });
    expect({ stdout, stderr }).toEqual({ stdout: "from the command\n", stderr: "" });
  });
});
