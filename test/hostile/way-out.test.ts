// @module-tag curl
/** Attacks by programs without an agent, whose connections to the egress proxy the control plane itself accepts. */
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { leftovers } from "../chaos/leftovers.js";
import { ControlPlaneCaller } from "../support/control-plane-caller.js";
import {
  cannotStartAs,
  type LocalServer,
  type StartedBy,
  startLocalServer,
} from "../support/local-server.js";
import { reachingHost, refusedByProxy } from "./reading.js";

interface Answer extends Record<string, unknown> {
  readonly stdout: string;
  readonly stderr: string;
  readonly exit_code: number;
}

describe.each<StartedBy>(["root", "an ordinary user"])("a hostile program of a server of %s", (who) => {
  const obstacle = cannotStartAs(who);
  let outside: Server;
  let server: LocalServer;
  let caller: ControlPlaneCaller;
  /** The number of descriptors that the server has open while no program runs. */
  let usual: number;
  const run = async (body: object): Promise<Answer> =>
    (await caller.call<Answer>("POST", "/executions", { timeout: 60, ...body })).body;
  const bash = (code: string, body: object = {}) => run({ code, language: "bash", ...body });
  const descriptors = (): number => readdirSync(`/proc/${server.pid}/fd`).length;

  beforeAll(async () => {
    if (obstacle !== undefined) return;
    // A server that answers a program, which sends its id, with the log of its connections.
    outside = createServer(async (request, answer) => {
      const { body } = await caller.call("GET", `/sandboxes/${await text(request)}/egress`);
      answer.end(JSON.stringify(body));
    }).listen(0, "127.0.0.1");
    await once(outside, "listening");
    const allowed = `127.0.0.1:${(outside.address() as AddressInfo).port}`;
    const args = ["--pool", "0", "--max-processes", "96", "--egress-allow-private", allowed];
    server = await startLocalServer({ who, args });
    caller = new ControlPlaneCaller(server);
    await run({ code: "1" });
    usual = descriptors();
  });
  afterAll(async () => {
    outside?.close();
    if (server === undefined) return;
    await server.stop();
    expect(leftovers(new Set([server.pid]))).toEqual([]);
  });

  /** Expects that the next program can reach the proxy, and that the server keeps nothing of the last one. */
  const unharmed = async (): Promise<void> => {
    const { stdout } = await bash("curl -sS --noproxy '' http://192.0.2.1/");
    expect(stdout).toContain("192.0.2.1:80 is not on the public internet");
    // Allow for a few connections of this test itself.
    await expect.poll(descriptors).toBeLessThan(usual + 6);
  };

  test("finds no channel to the control plane but its driver's", async ({ skip }) => {
    skip(obstacle !== undefined, obstacle);
    const early =
      'sockets=$(ls -l /proc/$$/fd | grep -o "socket:"); env | grep -c ^NODE_CHANNEL; echo $sockets';
    const bashEnvironment = { BASH_ENV: `$({ ${early}; } > /tmp/early)` };
    expect(
      (await bash("cat /tmp/early; ls -l /proc/$$/fd | grep -c socket:", { env: bashEnvironment })).stdout,
    ).toBe("0\n\n0\n");
    const code = `import os
print("NODE_CHANNEL_FD" in os.environ, [n for n in os.listdir("/proc/self/fd") if "socket" in os.path.realpath("/proc/self/fd/" + n)])`;
    expect((await run({ code })).stdout).toBe("False ['3']\n");
    const script = `const fs = require("node:fs");
[process.send, process.channel, fs.readdirSync("/proc/self/fd").filter((n) => { try { return fs.readlinkSync("/proc/self/fd/" + n).startsWith("socket") } catch {} })]`;
    expect(await run({ code: script, language: "javascript" })).toMatchObject({
      result: "[ undefined, undefined, [ '3' ] ]",
    });
    await unharmed();
  });

  test.for([
    ["once", 1],
    ["for ever", 1_000_000],
  ] as const)("that sends descriptors as handles, %s, is killed", async ([, times], { skip }) => {
    skip(obstacle !== undefined, obstacle);
    const code = `import array, socket, time
channel = socket.socket(fileno=3)
made = [socket.socket() for _ in range(100)]
handles = array.array("i", [s.fileno() for s in made])
line = b'{"cmd":"NODE_HANDLE","type":"net.Native","msg":{"id":1}}\\n'
for _ in range(${times}): channel.sendmsg([line], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, handles)])
time.sleep(60)`;
    const { exit_code, stderr } = await run({ code });
    expect([exit_code, stderr]).toEqual([137, expect.stringContaining("it wrote to file descriptor 3")]);
    await unharmed();
  });

  test("that connects 10,000 times, and holds what it can, is only dropped itself", async ({ skip }) => {
    skip(obstacle !== undefined, obstacle);
    const code = `import os, socket
held = []
for number in range(10_000):
    s = socket.socket()
    s.setblocking(False)
    s.connect_ex(("127.0.0.1", (3128, 1080)[number % 2]))
    held.append(s)
    if len(held) > 300: held.clear()
print(os.environ["CLOUD_SANDBOX_EXECUTION_ID"], flush=True)
import time; time.sleep(1000)`;
    const stop = new AbortController();
    const asked = fetch(`${server.url}/v1/executions`, {
      method: "POST",
      headers: { "X-API-Key": server.apiKey },
      body: JSON.stringify({ code, timeout: 300 }),
      signal: stop.signal,
    });
    await expect.poll(descriptors).toBeGreaterThan(usual + 64);
    expect((await run({ code: "print('undisturbed')" })).stdout).toBe("undisturbed\n");
    // 128 connections, two outputs, the channels of driver and bubblewrap, and connections of this test.
    await expect.poll(descriptors).toBeLessThan(usual + 160);
    stop.abort();
    await expect(asked).rejects.toThrow();
    await unharmed();
  });

  test("that says nothing, or garbage, and leaves in the middle leaves nothing", async ({ skip }) => {
    skip(obstacle !== undefined, obstacle);
    const code = `import os, socket
for said in b"", b"\\0" * 100_000, b"GET ", b"CONNECT x:1 HTTP/1.1\\r\\n", b"\\5", b"\\5\\1\\0\\5\\1\\0\\3\\xff", b"x" * 1_000_000:
    for port in 3128, 1080:
        s = socket.create_connection(("127.0.0.1", port))
        s.setblocking(False)
        try: s.send(said)
        except OSError: pass
        os.dup(s.detach())
print("left", flush=True)
os._exit(3)`;
    expect(await run({ code })).toMatchObject({ stdout: "left\n", exit_code: 3 });
    await unharmed();
  });

  test("cannot take the proxy's ports, or reach another's", async ({ skip }) => {
    skip(obstacle !== undefined, obstacle);
    const taking = `import errno, socket
for port in 3128, 1080:
    for address in "127.0.0.1", "0.0.0.0":
        for option in None, socket.SO_REUSEADDR, socket.SO_REUSEPORT:
            s = socket.socket()
            if option: s.setsockopt(socket.SOL_SOCKET, option, 1)
            try: s.bind((address, port)); s.listen(); print("taken", port, address)
            except OSError as error: assert error.errno == errno.EADDRINUSE
print("done")`;
    expect(await run({ code: taking })).toMatchObject({ stdout: "done\n", stderr: "" });
    const asking = "sleep 0.2; curl -sS --noproxy '' http://192.0.2.1/";
    const answers = await Promise.all([
      bash(asking),
      bash(asking, { internet_access: false }),
      bash(asking.replace("192.0.2.1", "one.invalid"), { egress: { allow: ["other.invalid"] } }),
    ]);
    expect(answers.map(({ stdout }) => stdout)).toEqual([
      expect.stringContaining("is not on the public internet"),
      expect.stringContaining("internet_access: true"),
      expect.stringContaining("egress.allow"),
    ]);
    await unharmed();
  });

  test("cannot reach the host, its network and clouds' own services", async ({ skip }) => {
    skip(obstacle !== undefined, obstacle);
    const { stdout, stderr } = await run({ code: reachingHost(server.url) });
    expect({ stdout, stderr }).toEqual({ stdout: refusedByProxy, stderr: "" });
    await unharmed();
  });

  test("is in the egress log by its id, while it runs", async ({ skip }) => {
    skip(obstacle !== undefined, obstacle);
    const { port } = outside.address() as AddressInfo;
    const asking = `curl -sS --noproxy '' -d $CLOUD_SANDBOX_EXECUTION_ID http://127.0.0.1:${port}/`;
    const told = await bash(asking);
    expect(JSON.parse(told.stdout)).toMatchObject({
      data: [{ protocol: "http", host: "127.0.0.1", port, decision: "allowed", open: true }],
      totals: { allowed: 1 },
      url: `/v1/sandboxes/${told.id}/egress`,
    });
    expect(await caller.told("GET", `/sandboxes/${told.id}/egress`)).toBe("404 SANDBOX_NOT_FOUND");
  });
});
