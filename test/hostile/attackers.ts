import { once, setMaxListeners } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { ControlPlaneCaller, type CreatedSandbox } from "../support/control-plane-caller.js";

/** A server under attack, with its own key. */
export interface Attacked {
  readonly url: string;
  readonly apiKey: string;
}

/** Attacks until the signal aborts. What is refused is not an error: the next attempt follows. */
type Attacker = (caller: ControlPlaneCaller, attacked: Attacked, signal: AbortSignal) => Promise<void>;

/** Code that is run in a sandbox, again and again, in a new one when it was ended. */
const inSandboxes =
  (code: string): Attacker =>
  async (caller, _, signal) => {
    let sandbox: CreatedSandbox | undefined;
    while (!signal.aborted) {
      sandbox ??= await caller.create().catch(() => undefined);
      if (!sandbox) {
        await sleep(200);
        continue;
      }
      const { status } = await caller.agent(
        sandbox,
        "/execute",
        { code, language: "python", timeout: 5 },
        signal,
      );
      if (status === 200) continue;
      await caller.call("DELETE", `/sandboxes/${sandbox.id}`);
      sandbox = undefined;
    }
  };

/** Programs without a sandbox, a few at a time. */
const asPrograms =
  (code: string, atATime: number): Attacker =>
  async (caller, _, signal) => {
    await Promise.all(
      Array.from({ length: atATime }, async () => {
        while (!signal.aborted)
          await caller.call("POST", "/executions", { code, language: "python", timeout: 1 }, {}, signal);
      }),
    );
  };

/** Eight kinds of attacks, each as small as it can be and still do harm to a server that lets it. */
export const attackers: Readonly<Record<string, Attacker>> = {
  "replies that nobody reads": inSandboxes(`
import socket, struct, time
request = struct.pack("=IHHII", 32, 18, 1, 1, 0) + struct.pack("=BxHiII", 0, 0, 1, 0, 0)
held = []
while len(held) < 200:
    one = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    one.setblocking(False)
    held.append(one)
    for number in range(100): one.send(request)
time.sleep(5)`),
  "locks, terminals and asynchronous requests": inSandboxes(`
import ctypes, fcntl, os, time
libc = ctypes.CDLL(None)
held = []
try:
    while True: held.append(os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY))
except OSError: pass
libc.syscall(206, 20000, ctypes.byref(ctypes.c_ulong(0)))
files = [open(f"/tmp/{number}", "w") for number in range(100)]
for place in range(300):
    for file in files: fcntl.lockf(file, fcntl.LOCK_EX, 1, 2 * place)
time.sleep(5)`),
  "children over the time limit": asPrograms(
    `
import os, time
for number in range(100):
    try:
        if os.fork() == 0: time.sleep(30); os._exit(0)
    except OSError: break
while True:
    try: time.sleep(5)
    except BaseException: pass`,
    2,
  ),
  "bytes that cost more than they weigh": asPrograms(
    `
import os
os.write(3, (12 << 20).to_bytes(4, "big"))
while True:
    for _ in range(50): os.write(3, b"D")`,
    2,
  ),
  "output without end": asPrograms(`while True: print("x" * 1000)`, 2),
  "connections that do nothing": async (_, { url }, signal) => {
    const { hostname, port } = new URL(url);
    const open = new Set<Socket>();
    while (!signal.aborted) {
      const socket = connect(Number(port), hostname).on("error", () => undefined);
      open.add(socket);
      socket.once("close", () => open.delete(socket));
      if (open.size > 250) await Promise.race([once(socket, "close"), sleep(50)]);
      else await once(socket, "connect").catch(() => undefined);
    }
    for (const socket of open) socket.destroy();
  },
  "requests of strangers": async (_, { url }, signal) => {
    const path = `/agent/${"a".repeat(8000)}/execute`;
    while (!signal.aborted) {
      await fetch(url + path, { method: "POST", body: "{}", signal }).then((answer) => answer.text());
      await sleep(5);
    }
  },
  "reports that nobody takes": async (caller, _, signal) => {
    const sandbox = await caller.create();
    const execution = { code: ":", language: "bash", callback_url: "http://127.0.0.1:9/" };
    while (!signal.aborted) {
      await caller.agent(sandbox, "/execute/async", execution, signal);
      await sleep(20);
    }
  },
};

/** Starts all attackers, each with an API key of its own. The returned function ends them. */
export async function attack(attacked: Attacked): Promise<() => Promise<void>> {
  const owner = new ControlPlaneCaller(attacked);
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  const all = Object.entries(attackers).map(async ([name, attacker], index) => {
    const { body } = await owner.call("POST", "/keys", { name: `attacker-${index}`, max_sandboxes: 2 });
    const caller = new ControlPlaneCaller({ url: attacked.url, apiKey: String(body.key) });
    while (!stop.signal.aborted)
      await attacker(caller, attacked, stop.signal).catch((error: unknown) => {
        // A connection that was closed is as good as a refusal. An error of the attack itself would hide that it does nothing.
        if (!stop.signal.aborted && !(error instanceof TypeError && error.message === "fetch failed"))
          console.error(`${name}: ${String(error)}`);
      });
  });
  return async () => {
    stop.abort();
    await Promise.all(all);
  };
}

/** What a well-behaved tenant does: a program, and a sandbox in which it works. Resolves with how long each call took, in ms. */
export async function behave(caller: ControlPlaneCaller): Promise<readonly number[]> {
  const took: number[] = [];
  const timed = async <Result>(call: () => Promise<Result>): Promise<Result> => {
    const began = performance.now();
    const result = await call();
    took.push(performance.now() - began);
    return result;
  };
  const program = { code: "print(6 * 7)", language: "python" };
  const isolated = await timed(() => caller.call("POST", "/executions", program));
  require(isolated.status === 200 && isolated.body.stdout === "42\n", "program", isolated);
  const sandbox = await timed(() => caller.create());
  for (let count = 0; count < 3; count += 1) {
    const run = await timed(() => caller.agent(sandbox, "/execute", program));
    require(run.status === 200 && run.body.stdout === "42\n", "execute", run);
  }
  const deleted = await timed(() => caller.call("DELETE", `/sandboxes/${sandbox.id}`));
  require(deleted.status === 200, "delete", deleted);
  return took;
}

function require(holds: boolean, what: string, told: object): void {
  if (!holds) throw new Error(`${what} of a well-behaved tenant: ${JSON.stringify(told)}`);
}
