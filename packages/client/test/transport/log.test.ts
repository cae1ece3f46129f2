import { Writable } from "node:stream";
import pino from "pino";
import { describe, expect, test } from "vitest";
import type { Logger, LogLevel } from "../../src/index.js";
import { rejection, testClient, unusedUrl } from "../support/clients.js";
import { good, recordingLogger, refused } from "../support/recorders.js";
import { wireSandbox } from "../support/sandbox-service.js";
import { type Handler, json, scriptedServer } from "../support/scripted-server.js";

describe("the log", () => {
  const outcomes: [string, Handler, LogLevel, RegExp][] = [
    ["a refusal", refused(404), "info", /^GET \/v1\/sandboxes\/abc failed: no/],
    ["a failure of the server", refused(500), "error", /failed: no/],
    ["an answer that is none", (_, response) => response.writeHead(200).end("hello"), "error", /failed: /],
    ["a broken connection", (_, response) => response.destroy(), "error", /failed: The connection/],
  ];
  test.each(outcomes)("has %s at the right level", async (_, handler, level, text) => {
    const server = await scriptedServer(handler);
    const { logger, lines } = recordingLogger();
    await rejection(testClient(server.url, { logger, retry: false }).sandboxes.get("abc"));
    expect(lines).toEqual([
      {
        level,
        text: expect.stringMatching(text),
        fields: expect.objectContaining({
          requestId: server.requests[0]?.headers["x-request-id"],
          code: expect.any(String),
          origin: server.url,
        }),
      },
    ]);
  });

  test("has an abort at the level debug, because the caller wanted it", async () => {
    const { logger, lines } = recordingLogger();
    const client = testClient(unusedUrl, { logger, logLevel: "debug" });
    await rejection(client.sandboxes.get("abc", { signal: AbortSignal.abort() }));
    expect(lines).toMatchObject([{ level: "debug", fields: { code: "ABORTED", attempt: 0 } }]);
  });

  test.each<[LogLevel, LogLevel[]]>([
    ["debug", ["debug", "debug", "warn", "debug", "debug", "error"]],
    ["info", ["warn", "error"]],
    ["warn", ["warn", "error"]],
    ["error", ["error"]],
  ])("begins at the level that is set, %s", async (logLevel, expected) => {
    const server = await scriptedServer(refused(503));
    const { logger, lines } = recordingLogger();
    const retry = { attempts: 2, baseDelaySeconds: 0.001 };
    await rejection(testClient(server.url, { logger, logLevel, retry }).sandboxes.get("abc"));
    expect(lines.map(({ level }) => level)).toEqual(expected);
  });

  test("goes to pino, field by field", async () => {
    const written: string[] = [];
    const stream = new Writable({
      write(chunk, _, done) {
        written.push(String(chunk));
        done();
      },
    });
    const server = await scriptedServer(good);
    const logger: Logger = pino({ level: "debug" }, stream);
    await testClient(server.url, { logger, logLevel: "debug" }).sandboxes.get("abc");
    expect(written.map((line) => JSON.parse(line))).toMatchObject([
      { level: 20, msg: "GET /v1/sandboxes/abc is sent", method: "GET" },
      { level: 20, msg: expect.stringMatching(/was answered 200 after [\d.]+ ms$/), status: 200 },
    ]);
  });

  test("is off by default, and console can be used as logger", async () => {
    const server = await scriptedServer(refused(500));
    const written: unknown[] = [];
    const before = { ...console };
    const note = (...line: unknown[]) => void written.push(line);
    Object.assign(console, { debug: note, info: note, warn: note, error: note, log: note });
    try {
      await rejection(testClient(server.url, { retry: false }).sandboxes.get("abc"));
      expect(written).toEqual([]);
      await rejection(testClient(server.url, { retry: false, logger: console }).sandboxes.get("abc"));
      expect(written).toHaveLength(1);
    } finally {
      Object.assign(console, before);
    }
  });

  test("has sandboxes that could not be deleted, instead of a warning of the process", async () => {
    const server = await scriptedServer(({ method }, response) =>
      method === "POST"
        ? json(response, 201, wireSandbox("ftp://nowhere"))
        : refused(500)(undefined as never, response),
    );
    const { logger, lines } = recordingLogger();
    const emitted: unknown[] = [];
    const note = (warning: unknown) => void emitted.push(warning);
    process.on("warning", note);
    await rejection(testClient(server.url, { logger, retry: false }).sandboxes.create());
    await new Promise((resolve) => setImmediate(resolve));
    process.off("warning", note);
    expect(lines.at(-1)).toMatchObject({
      level: "warn",
      text: expect.stringContaining("may still run"),
    });
    expect(emitted).toEqual([]);
  });
});
