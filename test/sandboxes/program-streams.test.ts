import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { leftovers } from "../chaos/leftovers.js";
import { ControlPlaneCaller } from "../support/control-plane-caller.js";
import { descendants } from "../support/host-processes.js";
import { type LocalServer, startLocalServer } from "../support/local-server.js";
import { separateAgent } from "../support/sandbox-agent.js";

type Frame = Readonly<Record<string, unknown>>;

/** Fields of a frame that differ in each run. */
const ownFields = ["id", "execution_id", "timestamp", "execution_time"];

const programs: Readonly<Record<string, object>> = {
  "a printed text": { code: "import sys\nprint('out')\nprint('err', file=sys.stderr)" },
  "the last expression": { code: "6 * 7" },
  "a traceback": { code: "def f():\n    return 1 / 0\n\nf()" },
  "an exit code": { code: "raise SystemExit(3)" },
  "a syntax error": { code: "print(" },
  "a null byte": { code: "print(1)\0" },
  "displayed values": { code: "for number in range(70): display({'text/html': str(number)}, raw=True)" },
  "displayed values that nobody wants": {
    code: "display({'text/html': 'a'}, raw=True)",
    capture_rich: false,
  },
  "an interpreter that was left at once": { code: "import os\nprint('before', flush=True)\nos._exit(7)" },
  "a time limit": { code: "import time\nprint('began')\ntime.sleep(60)", timeout: 1 },
  "a memory error": { code: "x = bytearray(400 * 2**20)", limits: { memory_mb: 200 } },
  "bytes that are no text": { code: "import os\nos.write(1, b'a\\xffb')" },
  "JavaScript's outputs": { language: "js", code: "console.log('out'); console.error('err'); [1, 'two']" },
  "JavaScript that imports": { language: "javascript", code: "import os from 'node:os';\nos.EOL" },
  "bash's outputs": { language: "bash", code: "echo out; echo err > /dev/stderr; exit 4" },
};

const withoutAgent = { internet_access: false };
/** A request for another directory or PATH makes the server start an agent. Other requests need none. */
const withAgent = {
  internet_access: false,
  workdir: "/workspace/.",
  env: { PATH: "/usr/local/bin:/usr/bin:/bin" },
};
const ways = { "without an agent": withoutAgent, "with an agent": withAgent };

let server: LocalServer;
let caller: ControlPlaneCaller;

beforeAll(async () => {
  server = await startLocalServer({ args: ["--pool", "0"] });
  caller = new ControlPlaneCaller(server);
});
afterAll(async () => {
  await server.stop();
  expect(leftovers(new Set([server.pid]))).toEqual([]);
});

const isSleeper = ({ commandLine }: { commandLine: string }): boolean => commandLine === "sleep 1234";

const asked = (body: object, headers = {}, signal?: AbortSignal): Promise<Response> =>
  fetch(`${server.url}/v1/executions`, {
    method: "POST",
    headers: { "X-API-Key": server.apiKey, ...headers },
    body: JSON.stringify({ stream: true, ...body }),
    ...(signal && { signal }),
  });

/** Yields the frames of an answer. Reads no further than the caller asks. */
async function* framesOf(answer: Response): AsyncGenerator<Frame> {
  const input = Readable.fromWeb(answer.body as never);
  for await (const line of createInterface({ input })) if (line !== "") yield JSON.parse(line);
}

/** Reads a whole stream: the text of each output, and the frames that are no output in their order. */
async function told(answer: Response): Promise<{ stdout: string; stderr: string; ends: Frame[] }> {
  const all: { stdout: string; stderr: string; ends: Frame[] } = { stdout: "", stderr: "", ends: [] };
  for await (const frame of framesOf(answer)) {
    if (frame.type === "stdout" || frame.type === "stderr") {
      expect(frame).not.toHaveProperty("skipped_bytes");
      all[frame.type] += frame.data;
    } else all.ends.push(frame);
  }
  return all;
}

const comparable = (frame: Frame): Frame =>
  Object.fromEntries(Object.entries(frame).filter(([name]) => !ownFields.includes(name)));

async function nothingLeft(): Promise<void> {
  const left = (): string[] =>
    descendants(server.pid)
      .map(({ commandLine }) => commandLine)
      .filter((line) => !/cloud-sandbox-guard|proxy-ports|program-launcher/.test(line));
  await expect.poll(left).toEqual([]);
  expect((await caller.call<{ data: object[] }>("GET", "/sandboxes")).body.data).toEqual([]);
}

test.for([true, false])(
  "a program is interrupted when its agent ends, streamed: %s",
  async (stream, { skip }) => {
    skip(process.getuid?.() !== 0, "only root can end an agent that has a user of its own");
    const code = "import subprocess\nprint('began', flush=True)\nsubprocess.run(['sleep', '1234'])";
    const answering = asked({ ...withAgent, code, timeout: 120, stream });
    const sandboxes = async () =>
      (await caller.call<{ data: { id: string }[] }>("GET", "/sandboxes")).body.data;
    await expect.poll(() => descendants(server.pid).some(isSleeper), { timeout: 20_000 }).toBe(true);
    // A stream begins with the first output.
    if (stream) await answering;
    const agent = separateAgent(String((await sandboxes())[0]?.id));
    process.kill(Number(agent), "SIGKILL");
    const answer = await answering;
    const problem = { code: "EXECUTION_INTERRUPTED" };
    if (stream) expect((await told(answer)).ends[0]).toMatchObject({ type: "error", ...problem });
    else expect([answer.status, await answer.json()]).toEqual([409, expect.objectContaining(problem)]);
    await nothingLeft();
  },
);

test.for(Object.entries(programs))(
  "a streamed program sends the same with and without an agent: %s",
  async ([, body]) => {
    const [without, agents] = await Promise.all(
      [withoutAgent, withAgent].map(async (way) => told(await asked({ ...body, ...way }))),
    );
    expect({ ...without, ends: without?.ends.map(comparable) }).toEqual({
      ...agents,
      ends: agents?.ends.map(comparable),
    });
    const [result, complete] = without?.ends ?? [];
    expect(result).toMatchObject({ type: "result", id: expect.any(String), isolation: "namespace" });
    expect(complete).toEqual({ type: "complete", success: result?.exit_code === 0 });
    await nothingLeft();
  },
);

describe.each(Object.entries(ways))("a streamed program %s", (_, way) => {
  test("sends output while it runs, and is killed when its caller goes away", async () => {
    const gone = new AbortController();
    const code = "import time\nprint('first', flush=True)\ntime.sleep(1000)";
    const answer = await asked({ ...way, code, timeout: 300 }, {}, gone.signal);
    const { value: frame } = await framesOf(answer).next();
    expect(frame).toMatchObject({ type: "stdout", data: "first\n" });
    gone.abort();
    await nothingLeft();
  });

  test("loses nothing when it is read slowly", async () => {
    const code = "for number in range(200_000): print(number, 'x' * 32)";
    const answer = await asked({ ...way, code, timeout: 60 });
    const frames = framesOf(answer);
    const texts: unknown[] = [(await frames.next()).value?.data];
    // Pause reading while the program writes more than the connection buffers.
    expect((await caller.call("POST", "/executions", { ...way, code: "print('other')" })).status).toBe(200);
    for await (const frame of frames) {
      expect(frame).not.toHaveProperty("skipped_bytes");
      if (frame.type === "stdout") texts.push(frame.data);
    }
    const rows = texts.join("").trimEnd().split("\n");
    expect(rows).toHaveLength(200_000);
    expect(rows.at(-1)).toBe(`199999 ${"x".repeat(32)}`);
    await nothingLeft();
  });

  test("loses none of many small writes before its end", async () => {
    // After 4 MiB the server reads slower. The small writes come faster, so that hundreds are buffered at the end.
    const code = [
      "import os, time",
      "print('x' * (5 << 20), flush=True)",
      "for number in range(3000):",
      "    os.write(1, b'%d\\n' % number)",
      "    time.sleep(0.0002)",
    ].join("\n");
    const { stdout, ends } = await told(await asked({ ...way, code, timeout: 60 }));
    expect(stdout.slice(-20)).toBe("2996\n2997\n2998\n2999\n");
    expect(stdout.trimEnd().split("\n")).toHaveLength(3001);
    expect(ends[0]).toMatchObject({ exit_code: 0, stdout_bytes: stdout.length });
  });

  test("is ended at its time limit while it prints for ever", async () => {
    const { ends } = await told(await asked({ ...way, code: "while True: print('x' * 100)", timeout: 1 }));
    expect(ends[0]).toMatchObject({ exit_code: 124, termination_reason: "timeout", stdout_truncated: true });
    await nothingLeft();
  });

  test("comes as server-sent events where they are asked for", async () => {
    const answer = await asked({ ...way, code: "print('out')" }, { accept: "text/event-stream" });
    expect(answer.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    const events = (await answer.text()).trim().split("\n\n");
    expect(events.map((event) => event.split("\n", 1)[0])).toEqual([
      "event: stdout",
      "event: result",
      "event: complete",
    ]);
    expect(JSON.parse(events[0]?.split("\ndata: ")[1] ?? "")).toMatchObject({
      type: "stdout",
      data: "out\n",
    });
  });

  test("is refused with a status before it runs", async () => {
    const statuses = [
      { code: "1", language: "cobol" },
      { code: "1", min_isolation: "microvm" },
      { code: "1", template_name: "nothing" },
      { code: "1", timeout: 0 },
    ].map(async (body) => (await asked({ ...way, ...body })).status);
    expect(await Promise.all(statuses)).toEqual([400, 400, 404, 400]);
  });

  test("is not run a second time for its Idempotency-Key", async () => {
    const headers = { "Idempotency-Key": JSON.stringify(way) };
    expect((await told(await asked({ ...way, code: "print(1)" }, headers))).stdout).toBe("1\n");
    const again = await asked({ ...way, code: "print(1)" }, headers);
    expect([again.status, await again.json()]).toMatchObject([409, { code: "CONFLICT" }]);
  });
});

test("a server ends although a stream of it is not read", async () => {
  const own = await startLocalServer({ args: ["--pool", "0"] });
  const unread = await Promise.all(
    Object.values(ways).map((way) =>
      fetch(`${own.url}/v1/executions`, {
        method: "POST",
        headers: { "X-API-Key": own.apiKey },
        body: JSON.stringify({ ...way, code: "while True: print('x' * 1000)", timeout: 300, stream: true }),
      }),
    ),
  );
  await own.stop();
  expect(leftovers(new Set([own.pid]))).toEqual([]);
  for (const { body } of unread) await body?.cancel().catch(() => undefined);
});
