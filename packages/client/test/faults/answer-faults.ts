import { gzipSync } from "node:zlib";
import type { Exchange } from "../support/faulty-service.js";
import { head } from "../support/faulty-service.js";
import { broken, type Fault, type FaultGroup, inSandbox, invalid } from "./fault.js";

const page = "<html><title>Welcome to the hotel</title></html>";
const bytes = { "content-type": "application/octet-stream" };
const jsonType = { "content-type": "application/json" };
const mebibyte = " ".repeat(1024 * 1024);
const anHour = 3_600_000;

function flood(exchange: Exchange, status: number): void {
  exchange.write(head(status, { ...jsonType, "transfer-encoding": "chunked" }));
  const chunk = `100000\r\n${mebibyte}\r\n`;
  const more = (): void => {
    while (exchange.connection.writable && exchange.connection.write(chunk));
  };
  exchange.connection.on("drain", more);
  more();
}

const answered = (
  fault: string,
  status: number,
  body: string | object,
  headers = {},
): Pick<Fault, "fault" | "misbehave"> => ({
  fault,
  misbehave: (exchange) => exchange.answer(status, body, headers),
});

export const answerFaults: FaultGroup = {
  title: "Answers",
  faults: [
    { ...answered("answers with a page", 200, page), outcome: invalid() },
    {
      fault: "answers with a page of unknown length",
      misbehave: (exchange) => exchange.chunked(page, { "content-type": "text/html" }),
      outcome: invalid(),
    },
    { ...answered("answers with bytes in place of JSON", 200, "\0\x01", bytes), outcome: invalid() },
    {
      fault: "answers with bytes of unknown length in place of JSON",
      misbehave: (exchange) => exchange.chunked("\0\x01", bytes),
      outcome: invalid(),
    },
    { ...answered("answers with half a JSON", 200, '{"id": "', jsonType), outcome: invalid() },
    {
      fault: "answers with half a JSON of unknown length",
      misbehave: (exchange) => exchange.chunked('{"id": "'),
      outcome: invalid(),
    },
    { ...answered("answers with JSON that is no object", 200, '"fine"', jsonType), outcome: invalid() },
    {
      ...answered(
        "answers with a million empty objects",
        200,
        `{"id":[${"{},".repeat(1_000_000)}{}]}`,
        jsonType,
      ),
      outcome: invalid("RESPONSE_TOO_LARGE"),
    },
    {
      ...answered(
        "answers with 2,000 lists in each other",
        200,
        `{"id":${" ".repeat(70_000)}${"[".repeat(2000)}${"]".repeat(2000)}}`,
        jsonType,
      ),
      outcome: invalid("RESPONSE_TOO_LARGE"),
    },
    {
      ...answered("answers with an object that lacks what is promised", 200, { status: "running" }),
      outcome: invalid(),
    },
    {
      ...answered("answers 200 with an error in it", 200, {
        error: "No such region",
        code: "REGION_UNKNOWN",
      }),
      outcome: { error: "ApiError", code: "REGION_UNKNOWN", status: 200 },
    },
    { ...answered("answers 200 with nothing", 200, "", jsonType), outcome: invalid() },
    {
      fault: "answers 204 where a body is promised",
      misbehave: (exchange) => exchange.write(head(204, {})),
      outcome: invalid(),
    },
    {
      ...answered("answers 204 with a body", 204, { id: "abc" }),
      carrier: "undici",
      outcome: broken,
      tries: 3,
    },
    {
      ...answered(
        "says the wrong content type of its JSON",
        200,
        JSON.stringify({ id: "abc", status: "running" }),
      ),
      outcome: {},
    },
    {
      ...answered("redirects to another host", 307, "", { location: "http://other.invalid/?token=1" }),
      outcome: { ...invalid("REDIRECT_REFUSED"), status: 307 },
    },
    {
      fault: "declares a JSON beyond 64 MiB",
      misbehave: (exchange) => exchange.write(head(200, { ...jsonType, "content-length": "70000000" })),
      outcome: invalid("RESPONSE_TOO_LARGE"),
    },
    {
      fault: "sends JSON without an end",
      misbehave: (exchange) => flood(exchange, 200),
      outcome: invalid("RESPONSE_TOO_LARGE"),
    },
    {
      ...answered("sends 100 KB of headers", 200, {}, { "x-long": "x".repeat(100_000) }),
      outcome: { error: "NetworkError", code: "UND_ERR_HEADERS_OVERFLOW" },
      tries: 3,
    },
    {
      ...answered("says that its JSON is compressed, which it is not", 200, '{"id": "abc"}', {
        ...jsonType,
        "content-encoding": "gzip",
      }),
      carrier: "fetch",
      outcome: { error: "NetworkError", code: "Z_DATA_ERROR" },
      tries: 3,
    },
    {
      fault: "compresses its JSON, which nobody asked for",
      misbehave: ({ connection }) => {
        const body = gzipSync('{"id": "abc", "status": "running"}');
        connection.write(
          head(200, { ...jsonType, "content-encoding": "gzip", "content-length": String(body.length) }),
        );
        connection.write(body);
      },
      carrier: "undici",
      outcome: invalid(),
    },
    {
      ...answered("is a proxy that says 502 with a page", 502, "<title>Bad gateway</title>"),
      outcome: { error: "ServerError", code: "HTTP_502", status: 502 },
      tries: 3,
    },
    {
      ...answered("fails without a word", 500, ""),
      outcome: { error: "ServerError", code: "HTTP_500", status: 500 },
      tries: 3,
    },
    {
      ...answered("fails with half a JSON", 500, '{"error": "', jsonType),
      outcome: { error: "ServerError", status: 500 },
      tries: 3,
    },
    {
      fault: "fails with a body without an end",
      misbehave: (exchange) => flood(exchange, 500),
      outcome: { error: "ServerError", status: 500 },
      tries: 3,
    },
    {
      ...answered("fails while it runs code", 502, { error: "no" }),
      ...inSandbox("POST /agent/execute/rich", (sandbox) => sandbox.execute("1")),
      outcome: { error: "ServerError", status: 502 },
    },
    {
      ...answered("gives the same page of a list for ever", 200, {
        data: [],
        has_more: true,
        next_cursor: "1",
      }),
      at: "GET /v1/sandboxes",
      call: async (client) => {
        for await (const _ of client.sandboxes.list());
      },
      outcome: invalid("CURSOR_REPEATED"),
      isAboutSeveral: true,
      tries: 2,
    },
  ],
};

const refusedToken = { error: "The token has expired", code: "TOKEN_EXPIRED" };
const shifted = (by: number): string => new Date(Date.now() + by).toUTCString();

export const tokenAndClockFaults: FaultGroup = {
  title: "Tokens and clocks",
  faults: [
    {
      fault: "refuses a token that expired meanwhile, once",
      ...inSandbox("POST /agent/execute/rich", (sandbox) => sandbox.execute("1")),
      misbehave: (exchange) =>
        exchange.count === 1
          ? exchange.answer(401, refusedToken)
          : exchange.answer(200, { success: true, stdout: "", stderr: "", exit_code: 0 }),
      outcome: {},
      tries: 2,
    },
    {
      fault: "refuses every token",
      ...inSandbox("POST /agent/execute/rich", (sandbox) => sandbox.execute("1")),
      misbehave: (exchange) => exchange.answer(401, refusedToken),
      outcome: { error: "AuthenticationError", code: "TOKEN_EXPIRED", status: 401 },
      tries: 2,
    },
    {
      fault: "gives no new token",
      at: "POST /v1/sandboxes/abc/token/refresh",
      call: async (client) => (await client.sandboxes.get("abc")).refreshToken(),
      misbehave: (exchange) => exchange.answer(500, { error: "no" }),
      outcome: { error: "ServerError", status: 500 },
    },
    {
      fault: "gives a token that is none",
      at: "POST /v1/sandboxes/abc/token/refresh",
      call: async (client) => (await client.sandboxes.get("abc")).refreshToken(),
      misbehave: (exchange) => exchange.answer(200, { auth_token: null }),
      outcome: invalid(),
    },
    ...[anHour, -anHour].map(
      (by): Fault => ({
        fault: `has a clock that is an hour ${by > 0 ? "fast" : "slow"}`,
        misbehave: (exchange) => {
          const at = new Date(Date.now() + by + 60_000).toISOString();
          const { connection } = exchange;
          const { port } = connection.address() as { port: number };
          exchange.answer(
            200,
            {
              id: "abc",
              status: "running",
              public_host: `http://127.0.0.1:${port}/agent`,
              auth_token: "token-of-nobody",
              token_expires_at: at,
              expires_at: at,
            },
            { date: shifted(by) },
          );
        },
        call: async (client) => (await client.sandboxes.get("abc")).execute("1"),
        outcome: {},
      }),
    ),
    {
      fault: "asks to come back at a time of its clock, which is an hour fast",
      misbehave: (exchange) =>
        exchange.count === 1
          ? exchange.answer(429, {}, { date: shifted(anHour), "retry-after": shifted(anHour) })
          : exchange.answer(200, { id: "abc", status: "running" }),
      outcome: {},
      tries: 2,
    },
  ],
};
