import { constants, type ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Origin, SecretProxy, secretValue } from "../../support/secret-origin.js";

let origin: Origin;
let proxy: SecretProxy;

beforeEach(async () => {
  origin = await Origin.start({ alpn: ["h2"] });
  proxy = await SecretProxy.start(origin, { TOKEN: { hosts: [origin.at] } });
});

afterEach(async () => {
  await proxy[Symbol.asyncDispose]();
  await origin[Symbol.asyncDispose]();
});

/** With which code the answer to a request over HTTP/2 ends. A program takes one that ends without an error for whole. */
async function endOf(): Promise<number> {
  const session = await proxy.http2(origin.at);
  const call = session.request({ ":path": "/" });
  call.on("error", () => undefined).resume();
  await new Promise((resolve) => call.once("close", resolve));
  session.destroy();
  return call.rstCode;
}

describe("over HTTP/2 an answer is broken off, and does not look whole, whose", () => {
  const { NGHTTP2_CANCEL, NGHTTP2_INTERNAL_ERROR } = constants;

  test.each<[string, number, (stream: ServerHttp2Stream, socket: Socket | undefined) => void]>([
    ["server closes the connection", NGHTTP2_CANCEL, (_, socket) => socket?.destroy()],
    ["server resets the connection", NGHTTP2_INTERNAL_ERROR, (_, socket) => socket?.resetAndDestroy()],
    ["server says that it leaves, and does", NGHTTP2_CANCEL, ({ session }) => session?.destroy()],
    ["server ends it with an error", NGHTTP2_INTERNAL_ERROR, (stream) => stream.destroy(new Error("no"))],
  ])("%s", async (_, code, leave) => {
    let socket: Socket | undefined;
    origin.server.on("connection", (connected) => {
      socket = connected;
    });
    origin.handle = (_, { stream }) => {
      stream.on("error", () => undefined);
      stream.respond({ ":status": 200 });
      stream.write("half", () => setTimeout(leave, 50, stream, socket));
    };
    expect(await endOf()).toBe(code);
  });

  test("compressed body has a value", async () => {
    origin.handle = (_, response) => {
      response.setHeader("content-encoding", "gzip");
      response.end(gzipSync(`it is ${secretValue}`));
    };
    expect(await endOf()).toBe(NGHTTP2_INTERNAL_ERROR);
  });
});

test("over HTTP/2 a request that its program breaks off does not look whole to the server", async () => {
  const ended = new Promise<number>((resolve) => {
    origin.server.on("stream", (stream: ServerHttp2Stream) => {
      stream.on("error", () => undefined).once("close", () => resolve(stream.rstCode));
    });
  });
  // Its own listener waits for the whole body.
  origin.server.removeAllListeners("request");
  const session = await proxy.http2(origin.at);
  const call = session.request({ ":path": "/", ":method": "POST" }).on("error", () => undefined);
  call.write("half", () => setTimeout(() => call.destroy(new Error("no")), 50));
  expect(await ended).toBe(constants.NGHTTP2_INTERNAL_ERROR);
  session.destroy();
});
