import { once } from "node:events";
import { type TerminalFrame, terminalFrame } from "@cloud-sandbox/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type WebSocket from "ws";
import { eventually } from "../support/eventually.js";
import { processesWith } from "../support/processes.js";
import { RunningAgent } from "../support/running-agent.js";
import { connect, SocketClient } from "../support/socket-client.js";

let agent: RunningAgent;
beforeAll(async () => {
  agent = await RunningAgent.start();
});
afterAll(async () => {
  await agent[Symbol.asyncDispose]();
});

class TerminalClient implements Disposable {
  constructor(private readonly client: SocketClient<TerminalFrame>) {}

  static async open(query = "?shell=sh"): Promise<TerminalClient> {
    return new TerminalClient(await SocketClient.open(agent, `/terminal${query}`, terminalFrame));
  }

  get screen(): string {
    return this.client.frames.map((frame) => (frame.type === "output" ? String(frame.data) : "")).join("");
  }

  get frames(): readonly TerminalFrame[] {
    return this.client.frames;
  }

  type(data: string): void {
    this.client.send({ type: "input", data });
  }

  send(frame: object | string): void {
    this.client.send(frame);
  }

  async shows(text: string | RegExp): Promise<void> {
    const there = () => (typeof text === "string" ? this.screen.includes(text) : text.test(this.screen));
    await eventually(`the screen shows ${text}`, there).catch((error: Error) => {
      throw new Error(`${error.message} It shows ${JSON.stringify(this.screen)}.`);
    });
  }

  async exited(): Promise<number> {
    await this.client.closed();
    const last = this.frames.at(-1);
    return last?.type === "exit" ? Number(last.code) : -1;
  }

  terminate(): void {
    this.client.socket.terminate();
  }

  [Symbol.dispose](): void {
    this.client[Symbol.dispose]();
  }
}

/** A command that prints `text`. The terminal echoes commands, so the text is not in the command as a whole. */
const printed = (text: string) => `printf '%s' '${text.slice(0, 1)}''${text.slice(1)}'\r`;

describe("a shell", () => {
  test("greets, echoes what is typed, runs it, and exits with its code", async () => {
    using terminal = await TerminalClient.open();
    await terminal.shows(/[$#] $/);
    terminal.type("echo $((6 * 7))\r");
    await terminal.shows("echo $((6 * 7))\r\n42\r\n");
    terminal.type("exit 3\r");
    expect(await terminal.exited()).toBe(3);
  });

  test("is at a terminal of the size that was asked for, in the workspace, with the sandbox's variables", async () => {
    await agent.call("PATCH", "/env", { env_vars: { FLAVOUR: "vanilla" } });
    using terminal = await TerminalClient.open("?cols=101&rows=33&shell=sh");
    terminal.type("stty size; pwd; echo $TERM.$FLAVOUR; test -t 0 -a -t 1 -a -t 2 && tty\r");
    await terminal.shows("33 101\r\n");
    await terminal.shows(`${agent.workspace}\r\n`);
    await terminal.shows("xterm-256color.vanilla\r\n");
    await terminal.shows(/\/dev\/pts\/\d+\r\n/);
  });

  test("is the one that was chosen, bash by itself", async () => {
    using python = await TerminalClient.open("?shell=python3");
    python.type("import sys; sys.stdin.isatty(), 6 * 7\r");
    await python.shows("(True, 42)");
    using bash = await TerminalClient.open("");
    bash.type("echo $BASH_VERSION\r");
    await bash.shows(/\r\d+\.\d+\.\d+/);
  });

  test.each(["no-such-shell", "/no/such/shell", "s".repeat(300), "/tmp", "/etc/passwd"])(
    "that cannot be started is refused before the terminal opens: %s",
    async (shell) => {
      const answer = await agent.call("GET", `/terminal?shell=${encodeURIComponent(shell)}`, undefined, {
        headers: {
          connection: "Upgrade",
          upgrade: "websocket",
          "sec-websocket-version": "13",
          "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
        },
      });
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({ code: "INVALID_REQUEST", details: { command: shell } });
      expect(answer.body.message).toMatch(/command not found|cannot be executed/);
    },
  );

  test("is ended by Ctrl-D, and by a signal as shells tell it", async () => {
    using terminal = await TerminalClient.open();
    await terminal.shows(/[$#] $/);
    terminal.type("\x04");
    expect(await terminal.exited()).toBe(0);
    using killed = await TerminalClient.open();
    killed.type("kill -9 $$\r");
    expect(await killed.exited()).toBe(137);
  });
});

describe("a program in it", () => {
  test("learns of a new size", async () => {
    using terminal = await TerminalClient.open("?shell=bash");
    terminal.type(`trap 'stty size' WINCH; ${printed("trapped")}`);
    await terminal.shows("trapped");
    terminal.send({ type: "resize", cols: 132, rows: 50 });
    await terminal.shows("50 132\r\n");
  });

  test("is interrupted by Ctrl-C, also while it writes without an end", async () => {
    using terminal = await TerminalClient.open();
    terminal.type(`sleep 4813.${process.pid}\r`);
    await eventually("it sleeps", () => processesWith(`sleep\x004813.${process.pid}`).length === 1);
    terminal.type("\x03");
    terminal.type(printed("after sleep"));
    await terminal.shows("after sleep");
    terminal.type("yes\r");
    await terminal.shows("y\r\ny\r\ny\r\n");
    terminal.type("\x03");
    terminal.type(printed("after yes"));
    await terminal.shows("after yes");
  });

  test("shows colours, and characters whole however they were written", async () => {
    using terminal = await TerminalClient.open();
    terminal.type("printf '\\033[31mred\\033[0m\\n'\r");
    await terminal.shows("\x1b[31mred\x1b[0m\r\n");
    const bytes = [...Buffer.from("€😀")].map((byte) => `printf '\\${byte.toString(8)}'; sleep 0.03`);
    terminal.type(`${bytes.join(";")}\r`);
    await terminal.shows("€😀");
    expect(terminal.screen).not.toContain("\ufffd");
  });

  test("takes a long paste", async () => {
    using terminal = await TerminalClient.open();
    // Set the terminal to raw mode first: otherwise it takes no line of more than 4 KiB.
    terminal.type("stty raw -echo; printf '%s' 'r''eady,'; head -c 300000 | wc -c\r");
    await terminal.shows("ready,");
    const paste = "0123456789".repeat(3000);
    for (let part = 0; part < 10; part += 1) terminal.type(paste);
    await terminal.shows(/ready, *300000\n/);
  });
});

test("everything in a terminal is killed when its connection ends", async () => {
  using terminal = await TerminalClient.open("?shell=bash");
  const nap = `4812.${process.pid}`;
  terminal.type(
    `(trap '' HUP; setsid sleep ${nap}) & nohup sleep ${nap} </dev/null >/dev/null 2>&1 & sleep ${nap} & echo $!; sleep ${nap}\r`,
  );
  await terminal.shows(/\r\n\d+\r\n/);
  await eventually("they run", () => processesWith(`sleep\x00${nap}`).length === 4);
  terminal.terminate();
  await eventually("nothing is left", () => processesWith(nap).length === 0);
});

test("frames that are not valid are refused, and the terminal goes on", async () => {
  using terminal = await TerminalClient.open();
  terminal.send({ type: "resize", cols: 0, rows: 5 });
  terminal.send("nonsense");
  await eventually(
    "both are refused",
    () => terminal.frames.filter(({ type }) => type === "error").length === 2,
  );
  terminal.type(printed("still here"));
  await terminal.shows("still here");
});

test.each(["?cols=0", "?rows=1001", "?cols=many"])(
  "a terminal with %s is refused before it is opened",
  async (query) => {
    await expect(connect(agent, `/terminal${query}`)).rejects.toThrow("400");
  },
);

test("of a thousand terminals at once 32 are opened, the others are refused, and other work goes on", async () => {
  const outcomes: PromiseSettledResult<WebSocket>[] = [];
  // Open 100 at a time, because the kernel queues only so many connections that the agent has not accepted yet.
  while (outcomes.length < 1000) {
    const attempts = Array.from({ length: 100 }, () => connect(agent, "/terminal?shell=sh"));
    outcomes.push(...(await Promise.allSettled(attempts)));
  }
  const opened = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
  expect(opened).toHaveLength(32);
  const refusals = outcomes.flatMap((outcome) =>
    outcome.status === "rejected" ? [String(outcome.reason)] : [],
  );
  expect(new Set(refusals)).toEqual(new Set(["Error: Unexpected server response: 429"]));
  expect((await agent.execute({ code: "print(1)" })).body.stdout).toBe("1\n");
  await Promise.all(
    opened.map((socket) => {
      socket.terminate();
      return once(socket, "close");
    }),
  );
}, 90_000);

test("GET /health names terminals among the features", async () => {
  expect((await agent.call("GET", "/health")).body).toMatchObject({ features: { terminal_access: true } });
});
