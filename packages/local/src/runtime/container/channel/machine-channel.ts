import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  type IncomingHttpHeaders,
} from "node:http2";
import { connect as connectSocket, type Socket } from "node:net";
import { type Assignment, channelLimits, channelPaths, newMachineHeader } from "./channel-protocol.js";
import { endIfSilent } from "./countdown.js";
import { joinStream } from "./join-stream.js";

/** Requests for connections to the proxy that wait at the machine, so that its connections need not. */
const waitingForEgress = 4;

/**
 * Carries connections to and from a machine over one connection to its supervisor: the standard streams of its container, or a
 * port. A machine therefore needs no network to reach others and no directory of the host, and may be on another host.
 */
export class MachineChannel {
  readonly #session: ClientHttp2Session;
  /** Resolves when the channel has closed. */
  readonly closed: Promise<void>;

  /**
   * `carrier` is joined to the machine's supervisor; see `socketPair`. `secret` opens the supervisor, which others could reach
   * too.
   */
  constructor(
    carrier: Socket,
    private readonly secret: string,
    isFrozen: () => boolean,
  ) {
    const { maxSessionMemory, settings, sessionWindow } = channelLimits;
    const session = connect("http://machine", {
      createConnection: () => carrier,
      maxSessionMemory,
      settings,
    });
    this.#session = session;
    session.once("connect", () => session.setLocalWindowSize(sessionWindow));
    // The machine's end tells why.
    session.on("error", () => undefined);
    this.closed = new Promise((resolve) => session.once("close", () => resolve()));
    endIfSilent(session, isFrozen);
  }

  /** Resolves when the supervisor answers, with whether it has started an agent; rejects when the channel closes before. */
  async greet(): Promise<{ readonly hasAgent: boolean }> {
    const headers = await this.#ask(channelPaths.hello, "");
    return { hasAgent: headers[newMachineHeader] === undefined };
  }

  async assign(assignment: Assignment): Promise<void> {
    await this.#ask(channelPaths.assign, JSON.stringify(assignment));
  }

  async restartAgent(): Promise<void> {
    await this.#ask(channelPaths.restart, "");
  }

  /** Joins a connection of this process with a new one to the agent. Ends it if the channel has closed. */
  toAgent(socket: Socket): void {
    const stream = this.#open(channelPaths.agent);
    if (stream) joinStream(stream, socket);
    else socket.destroy();
  }

  /** Joins each connection of the machine to the proxy with a new one to `socketPath`, where this process serves the proxy. */
  carryEgress(socketPath: string): void {
    const ask = (): void => {
      const stream = this.#open(channelPaths.egress);
      stream?.once("response", () => {
        ask();
        joinStream(stream, connectSocket({ path: socketPath, allowHalfOpen: true }).unref());
      });
    };
    for (let count = 0; count < waitingForEgress; count += 1) ask();
  }

  close(): void {
    this.#session.destroy();
  }

  async #ask(path: string, body: string): Promise<IncomingHttpHeaders> {
    const stream = this.#open(path);
    if (!stream) throw new Error("The machine's supervisor has ended.");
    stream.end(body);
    const headers = await new Promise<IncomingHttpHeaders>((resolve, reject) => {
      stream.once("response", resolve);
      stream.once("close", () => reject(new Error("The machine's supervisor did not answer.")));
    });
    stream.resume();
    return headers;
  }

  #open(path: string): ClientHttp2Stream | undefined {
    // A session that is closed throws when it is asked for a stream.
    if (this.#session.destroyed || this.#session.closed) return undefined;
    const headers = { ":method": "POST", ":path": path, authorization: this.secret };
    const stream = this.#session.request(headers, { endStream: false });
    stream.on("error", () => undefined);
    return stream;
  }
}
