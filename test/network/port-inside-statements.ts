import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { SandboxClient } from "cloud-sandbox";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { LocalServer } from "../support/local-server.js";

/** What every runtime keeps: a port of a sandbox leads through the proxy to a host, for programs that know no proxy. */
export function portInsideStatements(start: (args: readonly string[]) => Promise<LocalServer>): void {
  let own: LocalServer;
  let client: SandboxClient;
  let port: number;
  /** Sends back what it gets, and ends when its client has ended. */
  const service = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on("error", () => socket.destroy());
    socket.pipe(socket);
  });
  beforeAll(async () => {
    service.listen(0, "127.0.0.1");
    await once(service, "listening");
    port = (service.address() as AddressInfo).port;
    const args = ["--pool", "0", "--egress-allow-private", `127.0.0.1:${port}`];
    own = await start(args);
    client = new SandboxClient({ baseUrl: own.url, apiKey: own.apiKey });
  });
  afterAll(async () => {
    service.close();
    await client?.close();
    await own?.stop();
  });
  const run = async (command: string): Promise<string> => {
    const { stdout, stderr, exitCode } = await client.executeIsolated(command, { language: "bash" });
    return `${stdout}${stderr}${exitCode}`;
  };
  const exchange = `python3 -c '
import socket
connection = socket.create_connection(("127.0.0.1", 5432))
text = b"x" * 10_000_000
import threading
def send():
    connection.sendall(text)
    connection.shutdown(socket.SHUT_WR)
threading.Thread(target=send).start()
got = 0
while piece := connection.recv(65536): got += len(piece)
print(got)'`;

  test("leads to a service of this machine while a command runs, and carries all bytes", async () => {
    const listening = `cloud-sandbox-connect --listen 5432 host.docker.internal ${port}`;
    expect(await run(`${listening} -- ${exchange}`)).toBe("10000000\n0");
    expect(await run(`${listening} -- sh -c 'exit 7'`)).toBe("7");
    expect(await run(`${listening} -- no-such-program`)).toBe(
      "cloud-sandbox-connect: no-such-program: command not found\n127",
    );
  });

  test("is open until it is stopped without a command", async () => {
    const said = await run(`cloud-sandbox-connect --listen 5432 host.docker.internal ${port} 2>/tmp/log &
until grep -qs leads /tmp/log; do sleep 0.05; done; ${exchange}; kill $!; wait $!; grep -c leads /tmp/log`);
    expect(said).toBe("10000000\n1\n0");
  });

  test.each([
    [
      "a host that is refused",
      "5432 host.docker.internal 1",
      /403 host\.docker\.internal:1 .*--egress-allow-private/,
    ],
    ["a port that is taken", "3128 host.docker.internal PORT", /address already in use .*another port/],
    ["no port", "0 host.docker.internal PORT", /write cloud-sandbox-connect/],
  ])("is refused at once for %s", async (_, words, why) => {
    const said = await run(
      `cloud-sandbox-connect --listen ${words.replace("PORT", String(port))} -- echo ran`,
    );
    expect(said).toMatch(why);
    expect(said).toMatch(/\n1$/);
    expect(said).not.toContain("ran");
  });
}
