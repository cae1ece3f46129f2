import { createHmac } from "node:crypto";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { timeLimit, webhookHeaders } from "@cloud-sandbox/protocol";
import packageJson from "../../package.json" with { type: "json" };
import type { NameResolver } from "../addresses/name-servers.js";
import { isPublicAddress } from "../addresses/public-address.js";
import { type Callback, isPrivateHost } from "./callback.js";

export interface CallbackAnswer {
  readonly status: number;
  /** The receiver's `Retry-After`, in milliseconds from now. */
  readonly retryAfterMs: number | undefined;
}

/** Thrown when the callback's name resolves to a private address. The delivery is then given up without another attempt. */
export class PrivateAddressError extends Error {
  constructor() {
    super("The callback's address is not public, so nothing was sent to it.");
    this.name = "PrivateAddressError";
  }
}

/** Bytes of the answer's body that are read and dropped, so that the receiver can finish sending. */
const maxDiscardedBytes = 64 * 1024;

/**
 * Sends a report once and resolves with the receiver's answer. Does not follow redirects. Rejects when there is no answer
 * in time, and with a {@link PrivateAddressError}. Addresses are checked at connect time, so a changed name cannot evade it.
 */
export async function sendCallback(
  { url: target, headers, secret }: Callback,
  report: { readonly id: string; readonly body: string },
  options: {
    readonly timeoutMs: number;
    readonly allowPrivateAddresses: boolean;
    readonly resolve: NameResolver;
    readonly signal: AbortSignal;
  },
): Promise<CallbackAnswer> {
  const url = new URL(target);
  if (!options.allowPrivateAddresses && isPrivateHost(url)) throw new PrivateAddressError();
  const body = Buffer.from(report.body);
  const send = url.protocol === "https:" ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const call = send(url, {
      method: "POST",
      agent: false,
      signal: timeLimit(options.timeoutMs, options.signal),
      lookup: lookupWith(options.resolve, options.allowPrivateAddresses),
      headers: {
        "user-agent": `cloud-sandbox-local/${packageJson.version}`,
        ...lowerCased(headers),
        "content-type": "application/json",
        "content-length": body.length,
        [webhookHeaders.timestamp]: Math.floor(Date.now() / 1000),
        [webhookHeaders.delivery]: report.id,
        ...(secret !== undefined && { [webhookHeaders.signature]: signature(body, secret) }),
      },
    });
    call.on("error", reject);
    // Node ends some requests without an error.
    call.once("close", () => reject(new Error("The connection was closed without an answer.")));
    // Without this listener, Node closes the connection of a receiver that switches to another protocol, and says nothing.
    call.once("upgrade", (answer, socket) => {
      socket.destroy();
      resolve({ status: answer.statusCode ?? 0, retryAfterMs: undefined });
    });
    call.once("response", (answer) => {
      resolve({ status: answer.statusCode ?? 0, retryAfterMs: retryAfter(answer.headers["retry-after"]) });
      discard(answer);
    });
    call.end(body);
  });
}

const signature = (body: Buffer, secret: string): string =>
  `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;

/** Lower-cases the names, so that a caller's `Content-Type` does not become a second header beside the control plane's. */
const lowerCased = (headers: Callback["headers"]): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

/** A lookup that fails unless all addresses of the name are allowed. Node connects to one of the addresses it returns. */
function lookupWith(resolve: NameResolver, allowPrivateAddresses: boolean): LookupFunction {
  const lookup = async (name: string): Promise<{ address: string; family: number }[]> => {
    const addresses = await resolve(name);
    if (!allowPrivateAddresses && !addresses.every((address) => isPublicAddress(address)))
      throw new PrivateAddressError();
    return addresses.map((address) => ({ address, family: isIP(address) }));
  };
  return (name, { all }, callback) => {
    lookup(name).then(
      (found) => {
        const [first] = found;
        if (all || first === undefined) callback(first ? null : nameUnknown(), found);
        else callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, []),
    );
  };
}

const nameUnknown = (): NodeJS.ErrnoException =>
  Object.assign(new Error("The name has no address."), { code: "ENOTFOUND" });

function retryAfter(value = ""): number | undefined {
  const milliseconds = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(milliseconds) ? Math.max(0, milliseconds) : undefined;
}

function discard(answer: IncomingMessage): void {
  let read = 0;
  answer.on("data", (chunk: Buffer) => {
    read += chunk.length;
    if (read > maxDiscardedBytes) answer.destroy();
  });
  // Ignore errors in the body: only the status counts.
  answer.on("error", () => answer.destroy());
}
