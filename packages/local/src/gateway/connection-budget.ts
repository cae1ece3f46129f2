import type { EventEmitter } from "node:events";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { Problem } from "@cloud-sandbox/server-kit";
import { bearerToken } from "@cloud-sandbox/server-kit/handlers";
import { openFilesLimit } from "../runtime/host/open-files.js";
import type { KeyRing } from "../tokens/key-ring.js";
import type { TokenOwners } from "../tokens/token-owners.js";

/** Who a connection belongs to: the id of an API key, the server's own key, or an unknown caller. */
type Caller = string | typeof serverKey | typeof anonymous;
const serverKey = Symbol("serverKey");
const anonymous = Symbol("anonymous");

/** Who sent a request. */
interface RequestCaller {
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
 * A new connection counts as anonymous until its first request shows a key or a token of this server.
 */
export class ConnectionBudget {
  readonly #callers = new Map<Socket, Caller>();
  /** The connections of each caller, the oldest first. */
  readonly #byCaller = new Map<Caller, Set<Socket>>();
  /** The number of requests that are being answered, for connections that have some. */
  readonly #busy = new Map<Socket, number>();
  readonly #mostAnonymous: number;
  readonly #mostOfKey: number;
  readonly #mostOfKeys: number;

  constructor(most = budget()) {
    this.#mostAnonymous = Math.ceil(most / 4);
    this.#mostOfKey = Math.ceil(most / 2);
    this.#mostOfKeys = Math.ceil((most * 3) / 4);
  }

  /** Admits a new connection. If too many are anonymous, closes the oldest idle one of these, else the oldest. */
  open(socket: Socket): void {
    this.#move(socket, anonymous);
    socket.once("close", () => {
      this.#busy.delete(socket);
      this.#move(socket, undefined);
    });
    const unidentified = this.#of(anonymous);
    if (unidentified.size <= this.#mostAnonymous) return;
    const [oldest = socket] = unidentified;
    (this.#oldestIdle(unidentified, socket) ?? oldest).destroy();
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
    const caller = keyId ?? serverKey;
    if (this.#callers.get(socket) === caller || !this.#callers.has(socket)) return undefined;
    if (typeof caller === "string") {
      const own = this.#of(caller);
      const isFull = own.size >= this.#mostOfKey || this.#countOfKeys() >= this.#mostOfKeys;
      const idle = isFull ? this.#oldestIdle(own, socket) : undefined;
      if (isFull && !idle) return tooMany(Math.min(own.size, this.#mostOfKey));
      idle?.destroy();
    }
    this.#move(socket, caller);
    return undefined;
  }

  #move(socket: Socket, caller: Caller | undefined): void {
    const before = this.#callers.get(socket);
    if (before !== undefined) {
      const connections = this.#of(before);
      connections.delete(socket);
      if (connections.size === 0) this.#byCaller.delete(before);
    }
    if (caller === undefined) this.#callers.delete(socket);
    else {
      this.#callers.set(socket, caller);
      this.#byCaller.set(caller, this.#of(caller).add(socket));
    }
  }

  #of(caller: Caller): Set<Socket> {
    return this.#byCaller.get(caller) ?? new Set();
  }

  #countOfKeys(): number {
    return this.#callers.size - this.#of(anonymous).size - this.#of(serverKey).size;
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

/** Finds out who sent a request, by its API key or its sandbox's token. */
export class RequestCallers {
  /** The last credential on a connection, and whose it is: most connections have one caller, who sends many requests. */
  readonly #known = new WeakMap<Socket, { readonly credential: string; readonly caller: RequestCaller }>();

  constructor(
    private readonly keys: Pick<KeyRing, "callerOf" | "isUsable">,
    private readonly tokenOwners: Pick<TokenOwners, "of">,
  ) {}

  /**
   * Undefined if the request has no credential, or one that this server does not know or take any more. Agents take only tokens,
   * and the control plane only keys: another header beside it says nothing.
   */
  of(
    { headers, socket }: Pick<IncomingMessage, "headers" | "socket">,
    isForAgent: boolean,
  ): RequestCaller | undefined {
    const token = bearerToken(headers.authorization);
    const credential = isForAgent ? token : String(headers["x-api-key"] ?? token);
    if (credential === "") return undefined;
    const known = this.#known.get(socket);
    const caller =
      known?.credential === credential
        ? known.caller
        : isForAgent
          ? this.tokenOwners.of(credential)
          : this.keys.callerOf(credential);
    if (!caller || !this.keys.isUsable(caller.keyId)) return undefined;
    if (caller !== known?.caller) this.#known.set(socket, { credential, caller });
    return caller;
  }
}
