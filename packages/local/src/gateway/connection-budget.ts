import type { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { Problem } from "@cloud-sandbox/server-kit";
import { openFilesLimit } from "../runtime/host/open-files.js";

/** Who a connection belongs to: the id of an API key, the server's own key, or nobody that is known. */
type Party = string | typeof owner | typeof stranger;
const owner = Symbol("owner");
const stranger = Symbol("stranger");

/** Who sent a request. */
export interface RequestCaller {
  /** Id of the API key. Undefined for the server's own key. */
  readonly keyId: string | undefined;
}

/** Descriptors that the server needs for other things: its own files, sandboxes, connections to agents and out of sandboxes. */
const otherDescriptors = 256;
/** The most connections, however many files may be open. */
const mostConnections = 16_384;
const fewestConnections = 64;

/** The connections that a server can serve besides all else. Each may need another one to an agent. */
const budget = (): number =>
  Math.max(fewestConnections, Math.min(mostConnections, Math.floor((openFilesLimit - otherDescriptors) / 4)));

/**
 * Keeps descriptors for everybody: connections of callers without a key or token close each other when there are many, and each
 * API key has a number of its own. Those with the server's own key have no limit.
 *
 * A new connection is a stranger's until its first request shows a key or a token of this server.
 */
export class ConnectionBudget {
  readonly #parties = new Map<Socket, Party>();
  /** The connections of each party, the oldest first. */
  readonly #byParty = new Map<Party, Set<Socket>>();
  /** The number of requests that are being answered, for connections that have some. */
  readonly #busy = new Map<Socket, number>();
  readonly #mostStrangers: number;
  readonly #mostOfKey: number;
  readonly #mostOfKeys: number;

  constructor(most = budget()) {
    this.#mostStrangers = Math.ceil(most / 4);
    this.#mostOfKey = Math.ceil(most / 2);
    this.#mostOfKeys = Math.ceil((most * 3) / 4);
  }

  /** Admits a new connection. If there are too many of strangers, closes the oldest that waits, else the oldest. */
  open(socket: Socket): void {
    this.#move(socket, stranger);
    socket.once("close", () => {
      this.#busy.delete(socket);
      this.#move(socket, undefined);
    });
    const strangers = this.#of(stranger);
    if (strangers.size <= this.#mostStrangers) return;
    const [oldest = socket] = strangers;
    (this.#oldestIdle(strangers, socket) ?? oldest).destroy();
  }

  /**
   * Notes a request until `answered` emits "close". Returns the problem that refuses it because its key has too many
   * connections.
   */
  begin(socket: Socket, answered: EventEmitter, caller: RequestCaller | undefined): Problem | undefined {
    this.#busy.set(socket, (this.#busy.get(socket) ?? 0) + 1);
    // A connection that becomes a tunnel is busy to its end.
    if (answered !== socket)
      answered.once("close", () => {
        const others = (this.#busy.get(socket) ?? 1) - 1;
        if (others === 0) this.#busy.delete(socket);
        else this.#busy.set(socket, others);
      });
    return caller && this.#identify(socket, caller);
  }

  #identify(socket: Socket, { keyId }: RequestCaller): Problem | undefined {
    const party = keyId ?? owner;
    if (this.#parties.get(socket) === party || !this.#parties.has(socket)) return undefined;
    if (typeof party === "string") {
      const own = this.#of(party);
      const isFull = own.size >= this.#mostOfKey || this.#countOfKeys() >= this.#mostOfKeys;
      const idle = isFull ? this.#oldestIdle(own, socket) : undefined;
      if (isFull && !idle) return tooMany(Math.min(own.size, this.#mostOfKey));
      idle?.destroy();
    }
    this.#move(socket, party);
    return undefined;
  }

  #move(socket: Socket, party: Party | undefined): void {
    const before = this.#parties.get(socket);
    if (before !== undefined) {
      const connections = this.#of(before);
      connections.delete(socket);
      if (connections.size === 0) this.#byParty.delete(before);
    }
    if (party === undefined) this.#parties.delete(socket);
    else {
      this.#parties.set(socket, party);
      this.#byParty.set(party, this.#of(party).add(socket));
    }
  }

  #of(party: Party): Set<Socket> {
    return this.#byParty.get(party) ?? new Set();
  }

  #countOfKeys(): number {
    return this.#parties.size - this.#of(stranger).size - this.#of(owner).size;
  }

  #oldestIdle(connections: ReadonlySet<Socket>, except: Socket): Socket | undefined {
    for (const socket of connections) if (socket !== except && !this.#busy.has(socket)) return socket;
    return undefined;
  }
}

const tooMany = (count: number): Problem =>
  new Problem(
    429,
    "RESOURCE_EXHAUSTED",
    `This API key has ${count} connections in use, the most it may have now.`,
    {
      hint: "Wait for answers, and send requests one after another over the same connections.",
      headers: { "retry-after": "1", connection: "close" },
    },
  );
