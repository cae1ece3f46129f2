import { connect, type IpcNetConnectOpts, type Socket, type TcpNetConnectOpts } from "node:net";
import type { Duplex } from "node:stream";
import { relayBufferBytes } from "./merging-relay.js";

/** An open connection of which only the first bytes of the answer were read. */
export interface RelayedSocket {
  readonly socket: Socket;
  /** The first bytes the server sent. */
  readonly answer: Buffer;
  /** Sends `answer` to the caller and then joins both connections. When one of them ends, the other is ended too. */
  joinWith(caller: Duplex): void;
}

/**
 * Sends `head` to `address` and resolves with the first bytes of the answer. `signal` cancels only this wait. All later
 * bytes go through one reused buffer, no faster than the caller reads.
 */
export function openRelayed(
  address: TcpNetConnectOpts | IpcNetConnectOpts,
  head: string,
  signal: AbortSignal,
): Promise<RelayedSocket> {
  const buffer = Buffer.allocUnsafeSlow(relayBufferBytes);
  /** Handles the filled part of the buffer; returns whether the buffer may be filled again. */
  let take: (bytes: Buffer) => boolean;
  const callback = (length: number): boolean => take(buffer.subarray(0, length));
  return new Promise((resolve, reject) => {
    const socket: Socket = connect({ ...address, onread: { buffer, callback } });
    const giveUp = (): void => void socket.destroy();
    signal.addEventListener("abort", giveUp);
    if (signal.aborted) giveUp();
    take = (bytes) => {
      signal.removeEventListener("abort", giveUp);
      const answer = Buffer.from(bytes);
      const joinWith = (caller: Duplex): void => {
        take = (piece) => passedOn(piece, caller, socket);
        join(caller, socket);
        caller.write(answer);
        socket.resume();
      };
      resolve({ socket, answer, joinWith });
      return false;
    };
    socket.once("error", reject);
    socket.once("close", () => reject(new Error("The connection was closed before an answer came.")));
    socket.write(head, "latin1");
  });
}

function passedOn(bytes: Buffer, caller: Duplex, socket: Socket): boolean {
  let isWaiting = false;
  caller.write(bytes, () => {
    if (isWaiting) socket.resume();
  });
  isWaiting = caller.writableLength > 0;
  return !isWaiting;
}

function join(caller: Duplex, socket: Socket): void {
  socket.once("end", () => caller.end()).once("close", () => caller.destroy());
  caller.once("close", () => socket.destroy());
  caller.pipe(socket);
}
