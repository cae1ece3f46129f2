import { constants, type Http2Stream } from "node:http2";
import type { Socket } from "node:net";

/** Pipes a stream of HTTP/2 and a socket into each other, with backpressure, until both directions have ended or one of them breaks. */
export function joinStream(stream: Http2Stream, socket: Socket): void {
  // With NO_ERROR, the other end would take what has arrived for all of it.
  const cancel = (): void => stream.close(constants.NGHTTP2_CANCEL);
  socket.on("error", cancel);
  socket.once("close", () => {
    if (!socket.readableEnded) cancel();
  });
  stream.once("close", () => {
    // A stream closes when its last bytes were read; the socket may still have to write them.
    if (stream.readableEnded && stream.rstCode === constants.NGHTTP2_NO_ERROR) socket.destroySoon();
    else socket.destroy();
  });
  if (stream.destroyed) return void socket.destroy();
  stream.pipe(socket);
  socket.pipe(stream);
}
