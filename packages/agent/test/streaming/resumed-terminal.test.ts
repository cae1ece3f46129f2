import { randomUUID } from "node:crypto";
import { type TerminalFrame, terminalFrame } from "@cloud-sandbox/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { FrameChannel } from "../../src/streaming/frame-channel.js";
import { TerminalSession } from "../../src/streaming/terminal-session.js";
import { eventually } from "../support/eventually.js";
import { isLive, processesWith } from "../support/processes.js";
import { RunningAgent } from "../support/running-agent.js";
import { connect, SocketClient } from "../support/socket-client.js";

let agent: RunningAgent;
beforeAll(async () => {
  agent = await RunningAgent.start();
});
afterAll(async () => {
  await agent[Symbol.asyncDispose]();
});

/** A client that is attached to the terminal of a session. */
class Attached implements Disposable {
  #number: number;

  private constructor(
    private readonly client: SocketClient<TerminalFrame>,
    readonly session: string,
    typed: number,
  ) {
    this.#number = typed;
  }

  static async open(session: string = randomUUID(), query = "", typed = 0): Promise<Attached> {
    const path = `/terminal?shell=sh&session=${session}${query}`;
    return new Attached(await SocketClient.open(agent, path, terminalFrame), session, typed);
  }

  /** Opens another connection to the same terminal, which continues after what this one has got. */
  again(received = this.position): Promise<Attached> {
    return Attached.open(this.session, `&received=${received}`, this.#number);
  }

  get frames(): readonly TerminalFrame[] {
    return this.client.frames;
  }

  get screen(): string {
    return this.frames.map((frame) => (frame.type === "output" ? frame.data : "")).join("");
  }

  get position(): number {
    return this.frames.reduce((at, frame) => (frame.type === "output" ? (frame.position ?? at) : at), 0);
  }

  get taken(): number {
    return this.frames.reduce((at, frame) => ("taken" in frame ? Number(frame.taken) : at), 0);
  }

  type(data: string, number = this.#number + 1): void {
    this.#number = number;
    this.client.send({ type: "input", data, number });
  }

  async shows(text: string | RegExp): Promise<void> {
    await eventually(`the screen shows ${text}`, () => this.screen.match(text) !== null);
  }

  async attached(): Promise<TerminalFrame | undefined> {
    await eventually("it is attached", () => this.frames.length > 0);
    return this.frames[0];
  }

  async closed(): Promise<TerminalFrame | undefined> {
    return (await this.client.closed()).at(-1);
  }

  /** Cuts the connection without a word. */
  async cut(): Promise<void> {
    this.client.socket.terminate();
    await this.client.closed();
  }

  close(code: number): void {
    this.client.socket.close(code);
  }

  [Symbol.dispose](): void {
    this.close(1000);
  }
}

describe("a terminal that outlives its connection", () => {
  test("goes on where it was cut off, with what was written meanwhile", async () => {
    const cut = await Attached.open();
    expect(await cut.attached()).toEqual({ type: "attached", kept_seconds: 60, taken: 0, skipped_bytes: 0 });
    const done = `done-${cut.session}`;
    cut.type(`printf 'be''fore '; until test -e ${done}; do sleep 0.02; done; printf 'mean''while '\r`);
    await cut.shows("before ");
    await cut.cut();
    await agent.execute({ code: `open("${done}", "w")` });
    using back = await cut.again();
    expect(await back.attached()).toMatchObject({ taken: 1, skipped_bytes: 0 });
    await back.shows(/^meanwhile /);
    back.type("printf 'af''ter'; exit 7\r");
    expect(await back.closed()).toEqual({ type: "exit", code: 7 });
    expect(back.screen).toContain("after");
    expect(back.frames.map(({ type }) => type)).not.toContain("error");
  });

  test("takes no input twice, and gives receipts", async () => {
    const cut = await Attached.open();
    cut.type("stty -echo; printf 'rea''dy'\r");
    await cut.shows("ready");
    await eventually("there is a receipt", () => cut.taken === 1);
    cut.type("echo once >> typed\r");
    await cut.cut();
    using back = await cut.again();
    back.type("echo once >> typed\r", 2);
    back.type("cat typed; printf 'do''ne'; rm typed\r", 3);
    await back.shows("done");
    expect(back.screen.match(/once/g)).toHaveLength(1);
    // Input that shows nothing gets a receipt too, when it is much.
    back.type("cat > /dev/null\r", 4);
    for (let number = 5; number < 45; number += 1) back.type(`${"x".repeat(2000)}\r`, number);
    await eventually("there is a receipt", () => back.taken > 4);
  });

  test("is taken over by a later connection, and the earlier one is told", async () => {
    using first = await Attached.open();
    first.type("printf 'fi''rst'\r");
    await first.shows("first");
    using second = await first.again();
    expect(await first.closed()).toMatchObject({ type: "error", code: "TERMINAL_TAKEN_OVER" });
    second.type("printf 'sec''ond'\r", 2);
    await second.shows("second");
    expect(second.screen).not.toContain("first");
  });

  test("has the size of the connection that is attached", async () => {
    const cut = await Attached.open(randomUUID(), "&cols=90&rows=20");
    await cut.attached();
    await cut.cut();
    using back = await Attached.open(cut.session, "&received=0&cols=70&rows=33");
    back.type("stty size\r");
    await back.shows("33 70");
  });

  test("keeps the newest 256 KiB, and says what is missing", async () => {
    const cut = await Attached.open();
    cut.type("stty -echo; printf 'rea''dy'\r");
    await cut.shows("ready");
    const { position } = cut;
    const [go, done] = [`go-${cut.session}`, `done-${cut.session}`];
    cut.type(
      `until test -e ${go}; do sleep 0.02; done; head -c 600000 /dev/zero | tr '\\0' x; touch ${done}\r`,
    );
    await eventually("it was taken", () => processesWith(`sleep\x000.02`).length > 0);
    await cut.cut();
    await agent.execute({ code: `open("${go}", "w")` });
    const isDone = `import os, time\nwhile not os.path.exists("${done}"): time.sleep(0.02)`;
    await agent.execute({ code: isDone });
    using back = await cut.again(position);
    const attached = await back.attached();
    expect(attached).toMatchObject({ type: "attached", skipped_bytes: expect.any(Number) });
    const skipped = attached?.type === "attached" ? Number(attached.skipped_bytes) : 0;
    await eventually("the rest is shown", () => back.position >= position + 600_000);
    const shown = Buffer.byteLength(back.screen);
    expect(skipped + shown).toBe(back.position - position);
    expect(shown).toBeGreaterThan(250_000);
    // The kernel's own buffer of a terminal may have held 64 KiB more when the client came back.
    expect(shown).toBeLessThanOrEqual((256 + 64) * 1024);
  });

  test("keeps its end for a client that was away", async () => {
    const cut = await Attached.open();
    const go = `go-${cut.session}`;
    cut.type(`printf "pid=$$;"; until test -e ${go}; do sleep 0.02; done; printf 'la''st'; exit 4\r`);
    await cut.shows(/pid=\d+;/);
    const shell = Number(/pid=(\d+);/.exec(cut.screen)?.[1]);
    await cut.cut();
    await agent.execute({ code: `open("${go}", "w")` });
    await eventually("the shell has exited", () => !isLive(shell));
    const back = await cut.again();
    expect(await back.closed()).toEqual({ type: "exit", code: 4 });
    expect(back.screen).toContain("last");
    // It was told, so there is nothing left.
    await expect(connect(agent, `/terminal?session=${cut.session}&received=0`)).rejects.toThrow("404");
  });

  test("ends at once when its client closes it on purpose", async () => {
    const client = await Attached.open();
    const nap = `4814.${process.pid}`;
    client.type(`sleep ${nap}\r`);
    await eventually("it sleeps", () => processesWith(`sleep\x00${nap}`).length === 1);
    client.close(1000);
    await eventually("nothing is left", () => processesWith(nap).length === 0);
    await expect(connect(agent, `/terminal?session=${client.session}&received=0`)).rejects.toThrow("404");
  });

  test("is opened once, however often its client tries", async () => {
    const session = randomUUID();
    const clients = await Promise.all([1, 2, 3].map(() => Attached.open(session)));
    await eventually(
      "one is attached",
      () => clients.filter(({ frames }) => frames.at(-1)?.type === "error").length === 2,
    );
    for (const client of clients) client.close(1000);
  });

  test.each(["?session=short", `?session=${"ä".repeat(30)}`, "?received=0"])(
    "%s is refused",
    async (query) => {
      await expect(connect(agent, `/terminal${query}`)).rejects.toThrow("400");
    },
  );
});

test("a terminal that has no client for longer than it may is killed", async () => {
  const nap = `4815.${process.pid}`;
  const left = new AbortController();
  const channel: Pick<FrameChannel<object>, "closed" | "closeCode" | "finish" | "receive" | "send"> = {
    closed: left.signal,
    closeCode: 1006,
    receive: () => undefined,
    send: async () => undefined,
    finish: async () => undefined,
  };
  const operation = Object.create(null) as ConstructorParameters<typeof TerminalSession>[1]["operation"];
  const env = { PATH: process.env.PATH ?? "", NAP: nap };
  const place = { shell: "sh", cwd: "/", env, cols: 80, rows: 24 };
  const session = new TerminalSession(place, { operation, reconnectMs: 300 });
  session.attach(channel as Parameters<TerminalSession["attach"]>[0]);
  await eventually("the shell runs", () => processesWith(nap).length > 1);
  left.abort();
  await session.ended;
  await eventually("nothing is left", () => processesWith(nap).length === 0);
});
