import { describe, expect, onTestFinished, test } from "vitest";
import {
  AbortError,
  type IsolatedExecutionOptions,
  isSandboxError,
  SandboxClient,
  StreamClosedError,
  ValidationError,
} from "../../src/index.js";
import { TestingService } from "../../src/testing/index.js";

type Way = "in a sandbox" | "without a sandbox";
const ways: readonly Way[] = ["in a sandbox", "without a sandbox"];

/**
 * A client of a service in memory. Its program prints, and goes on when the test calls `goOn`. `answer`: another answer to
 * a request.
 */
function clientOf(way: Way, answer: (request: Request) => Response | undefined = () => undefined) {
  let goOn: () => void = () => undefined;
  let killed = 0;
  const service = new TestingService({
    programs: {
      "print and wait": async ({ stdout, stderr, signal }) => {
        stdout("first\n");
        stderr("warning\n");
        await new Promise<void>((resolve) => {
          goOn = resolve;
          signal.addEventListener("abort", () => {
            killed += 1;
            resolve();
          });
        });
        return { stdout: "second\n", exitCode: 3, value: "42" };
      },
    },
  });
  const requests: string[] = [];
  const client = new SandboxClient({
    ...service.clientOptions,
    fetch: async (request) => {
      const { pathname } = new URL(request.url);
      requests.push(`${request.method} ${pathname}`);
      if (pathname === "/v1/executions" && way === "in a sandbox")
        return Response.json({ code: "NOT_FOUND" }, { status: 404 });
      return answer(request) ?? service.fetch(request);
    },
  });
  onTestFinished(() => client.close());
  const sandboxes = async () => (await client.controlPlane.GET("/v1/sandboxes")).data?.data?.length;
  return { client, requests, sandboxes, goOn: () => goOn(), killed: () => killed };
}

describe.each(ways)("code that runs %s", (way) => {
  test("an isolated stream gives output while it is written, and the result when the sandbox is deleted", async () => {
    const { client, goOn, requests, sandboxes } = clientOf(way);
    const told: unknown[] = [];
    for await (const event of client.executeIsolatedStream("print and wait")) {
      if (event.type === "result") {
        expect(await sandboxes()).toBe(0);
        const { exitCode, value, sandboxId, cleanupError } = event.result;
        told.push({ exitCode, value, sandboxId: typeof sandboxId, cleanupError });
      } else if (event.type !== "error") told.push(event.text);
      if (told.length === 2) {
        expect(requests.includes("POST /v1/sandboxes")).toBe(way === "in a sandbox");
        goOn();
      }
    }
    expect(told.slice(0, 2).sort()).toEqual(["first\n", "warning\n"]);
    expect(told.slice(2)).toEqual([
      "second\n",
      { exitCode: 3, value: "42", sandboxId: "string", cleanupError: undefined },
    ]);
  });

  test("an isolated stream gives its result without its output being read", async () => {
    const { client, goOn, sandboxes } = clientOf(way);
    const result = client.executeIsolatedStream("print and wait").result();
    const waiting = setInterval(goOn, 5);
    onTestFinished(() => clearInterval(waiting));
    expect(await result).toMatchObject({ exitCode: 3, value: "42" });
    expect(await sandboxes()).toBe(0);
  });

  test("leaving the loop over an isolated stream kills the code and deletes its sandbox", async () => {
    const { client, killed, sandboxes } = clientOf(way);
    for await (const event of client.executeIsolatedStream("print and wait")) {
      expect(event.type).not.toBe("result");
      break;
    }
    await gone(way, { killed, sandboxes });
  });

  test("closing an isolated stream kills the code and deletes its sandbox", async () => {
    const { client, killed, sandboxes } = clientOf(way);
    const stream = client.executeIsolatedStream("print and wait");
    const events = stream[Symbol.asyncIterator]();
    await events.next();
    await stream.close();
    await gone(way, { killed, sandboxes });
    const rest = async () => {
      for await (const _ of events);
    };
    await expect(rest()).rejects.toBeInstanceOf(StreamClosedError);
    await expect(stream.result()).rejects.toBeInstanceOf(StreamClosedError);
  });

  test("the caller's signal kills the code of an isolated stream and deletes its sandbox", async () => {
    const { client, killed, sandboxes } = clientOf(way);
    const leaving = new AbortController();
    const read = async () => {
      for await (const _ of client.executeIsolatedStream("print and wait", { signal: leaving.signal }))
        leaving.abort("enough");
    };
    await expect(read()).rejects.toMatchObject({ constructor: AbortError, cause: "enough" });
    await gone(way, { killed, sandboxes });
  });

  test("closing the client deletes the sandbox of an isolated stream that nobody reads", async () => {
    const { client, killed } = clientOf(way);
    await client.executeIsolatedStream("print and wait")[Symbol.asyncIterator]().next();
    await client.close();
    await expect.poll(killed).toBe(1);
  });

  test("an isolated stream with a time limit that no server accepts is refused before anything is created", async () => {
    const { client, sandboxes } = clientOf(way);
    const stream = client.executeIsolatedStream("print and wait", { timeoutSeconds: 0 });
    await expect(stream.result()).rejects.toBeInstanceOf(ValidationError);
    expect(await sandboxes()).toBe(0);
  });
});

/** Without a sandbox the server kills the code when the connection is closed, of which the client hears nothing. */
async function gone(way: Way, it: { killed: () => number; sandboxes: () => Promise<number | undefined> }) {
  const state = async () => [await it.sandboxes(), it.killed()];
  if (way === "without a sandbox") await expect.poll(state).toEqual([0, 1]);
  expect(await state()).toEqual([0, 1]);
}

const frames = (...lines: readonly object[]) =>
  new Response(lines.map((line) => `${JSON.stringify(line)}\n`).join("\n"), {
    headers: { "content-type": "application/x-ndjson" },
  });
const out = { type: "stdout", data: "é" };
const result = { type: "result", exit_code: 0, id: "1", isolation: "namespace" };
const complete = { type: "complete", success: true };

/** What a client tells of a program's stream that the server answers so. */
async function told(answer: Response, options: IsolatedExecutionOptions = {}) {
  const { client } = clientOf("without a sandbox", (request) =>
    new URL(request.url).pathname === "/v1/executions" ? answer : undefined,
  );
  const events: string[] = [];
  try {
    for await (const event of client.executeIsolatedStream("print and wait", options))
      events.push(event.type === "stdout" ? event.text : event.type);
  } catch (error) {
    if (!isSandboxError(error)) throw error;
    events.push(error.name, error.code);
  }
  return events;
}

test.for([
  ["is whole", [out, result, complete], ["é", "result"]],
  ["has frames of a newer server", [{ type: "news" }, result, complete], ["result"]],
  ["ends before the end of the code", [out], ["é", "StreamClosedError", "STREAM_CLOSED"]],
  ["ends before it is complete", [out, result], ["é", "StreamClosedError", "STREAM_CLOSED"]],
  ["says no result", [complete], ["InvalidResponseError", "RESULT_MISSING"]],
  [
    "tells why there is no result",
    [{ type: "error", error: "no", code: "INTERNAL_ERROR" }, complete],
    ["error", "ServerError", "INTERNAL_ERROR"],
  ],
  ["lacks a field", [{ type: "stdout" }], ["InvalidResponseError", "INVALID_FRAME"]],
  ["lacks the id", [{ ...result, id: 1 }, complete], ["InvalidResponseError", "INVALID_FRAME"]],
] as const)("an isolated stream without a sandbox that %s", async ([, lines, expected]) => {
  expect(await told(frames(...lines))).toEqual(expected);
});

test("an isolated stream that is none, or breaks, is an error", async () => {
  expect(await told(new Response("no\n"))).toEqual(["InvalidResponseError", "INVALID_FRAME"]);
  const bytes = new TextEncoder().encode(`${JSON.stringify(out)}\n{"type`);
  // Cut in the middle of a character, and of a frame.
  const pieces = [bytes.slice(0, 26), bytes.slice(26)];
  const broken = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      const piece = pieces.shift();
      if (piece) controller.enqueue(piece);
      else controller.error(Object.assign(new TypeError("terminated"), { cause: { code: "ECONNRESET" } }));
    },
  });
  expect(await told(new Response(broken))).toEqual(["é", "StreamClosedError", "STREAM_CLOSED"]);
});

test("a weaker isolation of an isolated stream than was asked for is an error", async () => {
  expect(await told(frames(result, complete), { minIsolation: "microvm" })).not.toContain("result");
});
