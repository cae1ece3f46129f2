import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type ExecuteStreamFrame, executeStreamFrame } from "@cloud-sandbox/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type WebSocket from "ws";
import { eventually } from "../support/eventually.js";
import { MortalAgent, mortalToken } from "../support/mortal-agent.js";
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

const open = (path = "/execute/stream") => SocketClient.open(agent, path, executeStreamFrame);

/** Opens a stream, asks for an execution, and resolves with everything that was received until the server closed it. */
async function stream(first: object, path?: string): Promise<Told> {
  using client = await open(path);
  client.send({ type: "execute", ...first });
  return told(await client.closed());
}

interface Told {
  readonly frames: readonly ExecuteStreamFrame[];
  readonly stdout: string;
  readonly stderr: string;
  readonly result: Extract<ExecuteStreamFrame, { type: "result" }> | undefined;
  readonly error: Extract<ExecuteStreamFrame, { type: "error" }> | undefined;
  readonly last: ExecuteStreamFrame | undefined;
}

function told(frames: readonly ExecuteStreamFrame[]): Told {
  const text = (type: "stdout" | "stderr") =>
    frames.map((frame) => (frame.type === type && "data" in frame ? frame.data : "")).join("");
  return {
    frames,
    stdout: text("stdout"),
    stderr: text("stderr"),
    result: frames.find((frame) => frame.type === "result"),
    error: frames.find((frame) => frame.type === "error"),
    last: frames.at(-1),
  };
}

describe("a program's output and result are streamed", () => {
  test.each(["/execute/stream", "/stream", "/stream/ipython"])("%s", async (path) => {
    const code = "import sys; print('out'); print('err', file=sys.stderr)";
    const { stdout, stderr, result, last } = await stream({ code }, path);
    expect({ stdout, stderr }).toEqual({ stdout: "out\n", stderr: "err\n" });
    expect(result).toMatchObject({ exit_code: 0, termination_reason: "exit", stdout_bytes: 4 });
    expect(result?.execution_time).toBeGreaterThan(0);
    expect(last).toEqual({ type: "complete", success: true });
  });

  test("output arrives before the program has ended", async () => {
    using client = await open();
    client.send({
      type: "execute",
      language: "bash",
      code: "echo first; until [ -e go ]; do sleep 0.02; done; echo last",
    });
    await client.until("the first line is there", (frames) => told(frames).stdout === "first\n");
    await agent.call("POST", "/files/write", { path: "go", content: "" });
    expect(told(await client.closed()).stdout).toBe("first\nlast\n");
  });

  test("a program runs in the directory, with the variables and for the time that the first frame asks for", async () => {
    const ran = await stream({
      language: "bash",
      code: "pwd; echo $GREETING",
      working_dir: "/",
      env: { GREETING: "hi" },
    });
    expect(ran.stdout).toBe("/\nhi\n");
    const late = await stream({ language: "bash", code: "sleep 60", timeout: 1 });
    expect(late.result).toMatchObject({ exit_code: 124, termination_reason: "timeout" });
    expect(late.last).toEqual({ type: "complete", success: false });
  });

  test("a character arrives whole, even if it is written byte by byte", async () => {
    const code = `import os, time
for byte in "aé€😀z".encode():
    os.write(1, bytes([byte])); time.sleep(0.01)`;
    const { frames, stdout } = await stream({ code });
    expect(stdout).toBe("aé€😀z");
    expect(JSON.stringify(frames)).not.toContain("\ufffd");
  });

  test("much output arrives complete, in few frames", async () => {
    // Write everything at once: on a slow machine, single lines would be read one by one and sent in a frame each.
    const { frames, stdout, result } = await stream({ code: "print('\\n'.join(map(str, range(400000))))" });
    expect(stdout.length).toBe(result?.stdout_bytes);
    expect(stdout.endsWith("399998\n399999\n")).toBe(true);
    expect(frames.length).toBeLessThan(2000);
  });
});

describe("code in a context", () => {
  test("uses variables of earlier executions, and gives its last value", async () => {
    await stream({ code: "kept = 20" });
    const { result } = await stream({ code: "kept * 2 + 2" });
    expect(result).toMatchObject({ exit_code: 0, result: "42" });
    const other = await stream({ code: "kept", context: "another" });
    expect(other.result?.exit_code).toBe(1);
    expect(other.stderr).toContain("NameError");
  });

  test("streams what it displays, and large values only to clients that ask for them", async () => {
    const code = `class Shown:
    def __init__(self, size): self.size = size
    def _repr_html_(self): return "<b>" + "x" * self.size + "</b>"
display(Shown(3)); display(Shown(600_000))`;
    const { result } = await stream({ code });
    expect(result?.rich_outputs).toMatchObject([{ type: "text/html", data: "<b>xxx</b>" }]);
    expect(result).toMatchObject({ rich_outputs_dropped: 1 });
    const asked = await stream({ code, capture_rich: true });
    expect(asked.result?.rich_outputs).toHaveLength(2);
  });
});

describe("a command", () => {
  test("reads what it is sent, as text and as bytes", async () => {
    using client = await open("/commands/stream");
    client.send({ type: "command", command: "cat; echo over" });
    client.send({ type: "stdin", data: "text é\n" });
    await client.until("it has answered", (frames) => told(frames).stdout === "text é\n");
    client.send({ type: "stdin", data: Buffer.from("bytes\n").toString("base64"), encoding: "base64" });
    client.send({ type: "stdin_close" });
    expect(told(await client.closed()).stdout).toBe("text é\nbytes\nover\n");
  });

  test("reads all of a long input, at its own pace", async () => {
    using client = await open("/commands/stream");
    client.send({ command: "sleep 0.3; wc -c" });
    const chunk = "x".repeat(512 * 1024);
    for (let sent = 0; sent < 16; sent += 1) client.send({ type: "stdin", data: chunk });
    client.send({ type: "stdin_close" });
    expect(told(await client.closed()).stdout.trim()).toBe(String(16 * chunk.length));
  });

  test("takes arguments literally, and has an empty input unless one is asked for", async () => {
    const ran = await stream({ command: "cat", args: ["-", "/dev/null"], stdin: false }, "/commands/stream");
    expect(ran.result).toMatchObject({ exit_code: 0 });
    const listed = await stream({ command: "printf", args: ["%s|", "a b", "$HOME"] }, "/commands/stream");
    expect(listed.stdout).toBe("a b|$HOME|");
  });

  test("gets signals", async () => {
    using client = await open("/commands/stream");
    client.send({ command: "trap 'echo caught; exit 7' USR1; echo set; while :; do sleep 0.02; done" });
    await client.until("the trap is set", (frames) => told(frames).stdout === "set\n");
    client.send({ type: "signal", signal: "SIGUSR1" });
    const { stdout, result } = told(await client.closed());
    expect(stdout).toBe("set\ncaught\n");
    expect(result?.exit_code).toBe(7);
  });
});

describe("a streamed program ends", () => {
  test("by a cancel frame, and the result says so", async () => {
    using client = await open();
    client.send({ type: "execute", language: "bash", code: "echo on; sleep 600" });
    await client.until("it runs", (frames) => told(frames).stdout === "on\n");
    client.send({ type: "cancel" });
    const { result, last } = told(await client.closed());
    expect(result).toMatchObject({ exit_code: 137, termination_reason: "killed" });
    expect(last).toEqual({ type: "complete", success: false });
  });

  test("with all it started, when the client goes away", async () => {
    const client = await open();
    const nap = `4711.${process.pid}`;
    client.send({ type: "execute", language: "bash", code: `sleep ${nap} & echo on; sleep ${nap}` });
    await client.until("it runs", (frames) => told(frames).stdout === "on\n");
    client.socket.terminate();
    await eventually("nothing is left", () => processesWith(nap).length === 0);
  });
});

describe("a stream reports what cannot be run, and ends with a complete frame", () => {
  test.each([
    ["no JSON", "{", "INVALID_JSON"],
    ["no object", "[]", "INVALID_REQUEST"],
    ["an unknown type", { type: "dance" }, "INVALID_REQUEST"],
    ["no code", { type: "execute" }, "MISSING_PARAMETER"],
    ["a number for code", { type: "execute", code: 5 }, "INVALID_REQUEST"],
    ["too long a time", { type: "execute", code: "1", timeout: 100000 }, "INVALID_REQUEST"],
    ["an unknown language", { type: "execute", code: "1", language: "cobol" }, "INVALID_REQUEST"],
    ["no such directory", { type: "execute", code: "1", workdir: "/nowhere" }, "INVALID_REQUEST"],
    ["a signal for nothing", { type: "cancel" }, "INVALID_REQUEST"],
  ])("%s", async (_, first, code) => {
    using client = await open();
    client.send(first);
    const { frames } = told(await client.closed());
    expect(frames).toMatchObject([
      { type: "error", code },
      { type: "complete", success: false },
    ]);
    expect(client.closeCode).toBe(1000);
  });

  test("a second program on the same stream is refused, and the first goes on", async () => {
    using client = await open();
    client.send({ type: "execute", language: "bash", code: "sleep 0.3; echo done" });
    client.send({ type: "execute", code: "print(2)" });
    const { error, stdout, last } = told(await client.closed());
    expect(error?.code).toBe("INVALID_REQUEST");
    expect(stdout).toBe("done\n");
    expect(last).toEqual({ type: "complete", success: true });
  });

  test("values of variables appear in no frame", async () => {
    const env = { "not a name": "s3cret-value" };
    expect(JSON.stringify(await stream({ code: "1", env }))).not.toContain("s3cret-value");
  });
});

test("a reader that listens for one frame at a time loses none", async () => {
  const bursts = `import sys, time
for burst in range(5):
    for line in range(20):
        print(burst, line, flush=True); print(burst, line, file=sys.stderr, flush=True)
    time.sleep(0.02)`;
  // Use an agent in a process of its own, so that it goes on writing while this process is busy.
  await using other = await MortalAgent.start();
  const token = await mortalToken();
  for (let round = 0; round < 3; round += 1) {
    const socket = await connect({ socket: other.socket, token }, "/execute/stream");
    socket.send(JSON.stringify({ type: "execute", code: bursts }));
    const frames: ExecuteStreamFrame[] = [];
    for await (const frame of oneShotMessages(socket)) {
      frames.push(executeStreamFrame.parse(frame));
      beBusy(8);
      if (frames.at(-1)?.type === "complete") break;
    }
    socket.close();
    const { stdout, stderr, result } = told(frames);
    expect(stdout.split("\n")).toHaveLength(101);
    expect(stderr.split("\n")).toHaveLength(101);
    expect(result?.exit_code).toBe(0);
  }
});

/** Blocks this process. Messages that arrive meanwhile are delivered together afterwards. */
function beBusy(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}

/**
 * Yields messages, listening only while the caller waits for one. Messages in between are lost, so a test fails that
 * gets two at once.
 */
async function* oneShotMessages(socket: WebSocket): AsyncGenerator<unknown> {
  while (socket.readyState === socket.OPEN) {
    const [data] = await once(socket, "message", { signal: AbortSignal.timeout(10_000) });
    yield JSON.parse(String(data));
  }
}

describe("a client that does not read", () => {
  const writes = (pieces: number): string =>
    `import os\nfor n in range(${pieces}): os.write(1, b"%07d\\n" % n * 8192)\nopen("end", "w").close()`;
  const written = (pieces: number): string =>
    Array.from({ length: pieces }, (_, n) => `${String(n).padStart(7, "0")}\n`.repeat(8192)).join("");
  const hasEnded = async (agent: RunningAgent): Promise<boolean> =>
    (await agent.call<{ exists: boolean }>("GET", "/files/exists?path=end")).body.exists;

  test("delays no other, and its program only when no more can be kept; it loses nothing", async () => {
    const small = await RunningAgent.start({ outputFileLimit: 2 * 1024 * 1024 });
    await using _ = small;
    for (const [pieces, isHeldUp] of [
      [16, false],
      [160, true],
    ] as const) {
      using slow = await SocketClient.open(small, "/execute/stream", executeStreamFrame);
      slow.socket.pause();
      slow.send({ type: "execute", code: writes(pieces) });
      if (isHeldUp) {
        const other = await small.call<{ stdout: string }>("POST", "/commands/run", { command: "echo on" });
        expect(other.body.stdout).toBe("on\n");
        expect(await hasEnded(small)).toBe(false);
      } else await eventually("the program has ended", () => hasEnded(small));
      slow.socket.resume();
      const { stdout, result, last } = told(await slow.closed());
      expect(result).toMatchObject({ exit_code: 0, stdout_bytes: pieces * 65536 });
      expect(stdout === written(pieces)).toBe(true);
      expect(last).toEqual({ type: "complete", success: true });
      await small.call("DELETE", "/files/remove?path=end");
    }
  });

  test("and goes away holds up no program for ever", async () => {
    const small = await RunningAgent.start({ outputFileLimit: 1024 * 1024 });
    await using _ = small;
    using slow = await SocketClient.open(small, "/commands/stream", executeStreamFrame);
    slow.socket.pause();
    slow.send({ type: "command", command: "echo $$ > pid; trap '' TERM; yes" });
    await eventually("the program runs", async () => existsSync(join(small.workspace, "pid")));
    slow.socket.terminate();
    const pid = readFileSync(join(small.workspace, "pid"), "utf8").trim();
    await eventually("the program has ended", async () => !existsSync(`/proc/${pid}`));
  });

  test("reads what a program had written when it ended, and not what it left behind", async () => {
    const small = await RunningAgent.start({ outputFileLimit: 1024 * 1024 });
    await using _ = small;
    using slow = await SocketClient.open(small, "/commands/stream", executeStreamFrame);
    slow.socket.pause();
    slow.send({ type: "command", command: "head -c 1100000 /dev/zero; yes & touch end" });
    await eventually("the program has ended", () => hasEnded(small));
    slow.socket.resume();
    const { stdout, frames, result } = told(await slow.closed());
    expect(result?.exit_code).toBe(0);
    expect(stdout.startsWith("\0".repeat(1_100_000))).toBe(true);
    expect(frames.filter((frame) => "skipped_bytes" in frame)).toEqual([]);
    await small.call("POST", "/commands/run", { command: "pkill yes" });
  });
});
