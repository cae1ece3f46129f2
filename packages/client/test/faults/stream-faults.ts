import { answerUpgrade, type ServedSocket } from "../support/frame-server.js";
import { type Fault, type FaultGroup, inSandbox, invalid, type Outcome, timedOut } from "./fault.js";

const result = { type: "result", exit_code: 0, execution_time: 0.1 };
const complete = { type: "complete", success: true };
const out = { type: "stdout", data: "1" };

const stream = inSandbox("GET /agent/execute/stream", (sandbox) => sandbox.executeStream("1").result());
const closed = (closeCode: number): Outcome => ({
  error: "StreamClosedError",
  code: "STREAM_CLOSED",
  closeCode,
});

/**
 * A fault of a stream: the server opens the WebSocket, and calls `behave` when the client has asked for the execution.
 */
const framed = (
  fault: string,
  behave: (socket: ServedSocket) => void,
): Pick<Fault, "fault" | "at" | "call" | "misbehave"> => ({
  fault,
  ...stream,
  misbehave: (exchange) => void exchange.upgrade((_, socket) => behave(socket)),
});

const handshake = (
  fault: string,
  answer: (connection: ServedSocket["connection"]) => void,
): Pick<Fault, "fault" | "at" | "call" | "misbehave"> => ({
  fault,
  ...stream,
  misbehave: ({ connection }) => answer(connection),
});

const refusals: readonly [number, string, Outcome, number?][] = [
  [404, '{"error": "no", "code": "NOT_FOUND"}', { error: "NotFoundError" }],
  [410, '{"error": "gone", "code": "SANDBOX_EXPIRED"}', { error: "SandboxExpiredError" }],
  [429, '{"error": "32 streams are open", "code": "RESOURCE_EXHAUSTED"}', { error: "ResourceLimitError" }, 3],
  [200, "<html>hello</html>", { error: "InvalidResponseError", code: "WEBSOCKET_REFUSED" }],
  [302, "", { error: "InvalidResponseError", code: "WEBSOCKET_REFUSED" }],
  [502, "<title>Bad gateway</title>", { error: "ServerError" }, 3],
];

export const streamFaults: FaultGroup = {
  title: "Streams over WebSockets",
  faults: [
    ...refusals.map(
      ([status, body, outcome, tries = 1]): Fault => ({
        ...handshake(
          `answers the handshake ${status}`,
          (connection) => void answerUpgrade(connection, status, body),
        ),
        outcome: { ...outcome, status },
        tries,
      }),
    ),
    { ...handshake("never answers the handshake", () => undefined), ...timedOut() },
    {
      ...handshake("resets the connection in the handshake", (connection) => connection.destroy()),
      outcome: { error: "NetworkError" },
      tries: 3,
    },
    { ...framed("closes at once", (socket) => socket.close(1000)), outcome: closed(1000) },
    { ...framed("goes away", (socket) => socket.close(1001)), outcome: closed(1001) },
    {
      ...framed("closes because the token has expired", (socket) => socket.close(1008)),
      outcome: closed(1008),
    },
    {
      ...framed("breaks the connection", (socket) => void socket.connection.destroy()),
      outcome: closed(1006),
    },
    {
      ...framed("breaks the connection after some output", (socket) => {
        socket.send(out);
        socket.connection.end();
      }),
      outcome: closed(1006),
    },
    {
      ...framed("closes after the result and before the end", (socket) => {
        socket.send(result);
        socket.close(1000);
      }),
      outcome: {},
    },
    {
      ...framed("sends all its frames at once", (socket) => socket.send(out, out, result, complete)),
      outcome: {},
    },
    {
      ...framed("sends a frame byte by byte", (socket) => {
        const bytes = Buffer.from([...frame(result), ...frame(complete)]);
        for (const byte of bytes) socket.connection.write(Buffer.of(byte));
      }),
      outcome: {},
    },
    {
      ...framed("sends no frame and no sign of life", (socket) => {
        socket.answersPings = false;
      }),
      ...timedOut("idle"),
    },
    {
      ...framed("stops in a frame", (socket) => {
        socket.answersPings = false;
        socket.connection.write(frame(result).subarray(0, 10));
      }),
      ...timedOut("idle"),
    },
    {
      ...framed("sends what is no JSON", (socket) => socket.send("{half")),
      outcome: invalid("INVALID_FRAME"),
    },
    {
      ...framed("sends JSON that is no frame", (socket) => socket.send("[1]")),
      outcome: invalid("INVALID_FRAME"),
    },
    {
      ...framed("sends a frame that lacks its field", (socket) => socket.send({ type: "stdout" })),
      outcome: invalid("INVALID_FRAME"),
    },
    {
      ...framed("ends without a result", (socket) => socket.send(complete)),
      outcome: invalid("RESULT_MISSING"),
    },
    {
      ...framed("reports an error and no result", (socket) =>
        socket.send({ type: "error", error: "No cobol.", code: "LANGUAGE_NOT_AVAILABLE" }, complete),
      ),
      outcome: { error: "ValidationError", code: "LANGUAGE_NOT_AVAILABLE" },
    },
    {
      ...framed(
        "announces a frame beyond all measure",
        (socket) => void socket.connection.write(Buffer.from([0x81, 127, 0, 0, 1, 0, 0, 0, 0, 0])),
      ),
      outcome: { error: "StreamClosedError" },
    },
    {
      ...framed("sends text that is no UTF-8", (socket) => socket.sendRaw(1, Buffer.from([0xff, 0xfe]))),
      outcome: { error: "StreamClosedError" },
    },
    {
      ...framed(
        "uses a bit that nobody agreed on",
        (socket) => void socket.connection.write(Buffer.from([0xc1, 0])),
      ),
      outcome: { error: "StreamClosedError" },
    },
    {
      ...framed(
        "speaks HTTP in a stream",
        (socket) => void socket.connection.write("HTTP/1.1 200 OK\r\n\r\n"),
      ),
      outcome: { error: "StreamClosedError" },
    },
  ],
};

function frame(value: object): Buffer {
  const payload = Buffer.from(JSON.stringify(value));
  return Buffer.concat([Buffer.from([0x81, payload.length]), payload]);
}
