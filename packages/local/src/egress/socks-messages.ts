import type { Readable } from "node:stream";

/** A client's message violates SOCKS5 (RFC 1928). `reply` is the code to answer with. */
export class SocksProblem extends Error {
  override readonly name = "SocksProblem";

  constructor(
    readonly reply: number,
    message: string,
  ) {
    super(message);
  }
}

export const socksReplies = {
  succeeded: 0,
  generalFailure: 1,
  notAllowed: 2,
  hostUnreachable: 4,
  ttlExpired: 6,
  commandNotSupported: 7,
  addressTypeNotSupported: 8,
} as const;

const version = 5;
const noAuthentication = 0;
const connectCommand = 1;

/** Reads the greeting. Resolves with whether the client accepts "no authentication", the only method offered. */
export async function readGreeting(source: Readable): Promise<boolean> {
  const [, count = 0] = await readVersioned(source, 2);
  const methods = await readExactly(source, count);
  return methods.includes(noAuthentication);
}

/** Reads the CONNECT request: host and port as the client wrote them. Later bytes stay in `source`. */
export async function readConnectRequest(source: Readable): Promise<{ host: string; port: number }> {
  const [, command, , addressType] = await readVersioned(source, 4);
  const host = await readHost(source, addressType);
  const port = (await readExactly(source, 2)).readUInt16BE();
  if (command !== connectCommand)
    throw new SocksProblem(socksReplies.commandNotSupported, "Only CONNECT is supported, not BIND or UDP.");
  return { host, port };
}

/** The server's reply to a CONNECT request. Its bound address is sent as zero, because clients do not use it. */
export function socksReply(code: number): Buffer {
  return Buffer.from([version, code, 0, 1, 0, 0, 0, 0, 0, 0]);
}

/** The server's answer to the client's greeting: the chosen authentication method, or 0xff for none. */
export function socksMethod(isAccepted: boolean): Buffer {
  return Buffer.from([version, isAccepted ? noAuthentication : 0xff]);
}

async function readVersioned(source: Readable, length: number): Promise<Buffer> {
  const bytes = await readExactly(source, length);
  if (bytes[0] !== version)
    throw new SocksProblem(socksReplies.generalFailure, "Only SOCKS version 5 is supported.");
  return bytes;
}

async function readHost(source: Readable, addressType: number | undefined): Promise<string> {
  switch (addressType) {
    case 1:
      return (await readExactly(source, 4)).join(".");
    case 3: {
      const [length = 0] = await readExactly(source, 1);
      return (await readExactly(source, length)).toString("latin1");
    }
    case 4: {
      const groups = (await readExactly(source, 16)).toString("hex").match(/.{4}/g) ?? [];
      return groups.join(":");
    }
    default:
      throw new SocksProblem(
        socksReplies.addressTypeNotSupported,
        "The address type is not IPv4, IPv6 or a name.",
      );
  }
}

async function readExactly(source: Readable, length: number): Promise<Buffer> {
  let bytes = Buffer.alloc(0);
  while (bytes.length < length) {
    // Read without a size: `read(length)` returns null until that many bytes are buffered, though `readable` fires for less.
    const more = source.read() as Buffer | null;
    if (more !== null) bytes = Buffer.concat([bytes, more]);
    else if (source.readableEnded || source.destroyed)
      throw new SocksProblem(socksReplies.generalFailure, "The connection ended in the middle of a message.");
    else await readableOrOver(source);
  }
  if (bytes.length > length) source.unshift(bytes.subarray(length));
  return bytes.subarray(0, length);
}

/** Resolves when the stream may have bytes to read, has ended or has failed. */
export function readableOrOver(source: Readable): Promise<void> {
  return new Promise((resolve) => {
    const events = ["readable", "end", "error", "close"] as const;
    const settle = (): void => {
      for (const event of events) source.removeListener(event, settle);
      resolve();
    };
    for (const event of events) source.on(event, settle);
  });
}
