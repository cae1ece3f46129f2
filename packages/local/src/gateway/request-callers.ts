import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { bearerToken } from "@cloud-sandbox/server-kit/handlers";
import type { KeyRing } from "../tokens/key-ring.js";
import type { TokenOwners } from "../tokens/token-owners.js";
import type { RequestCaller } from "./connection-budget.js";

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
