import { createHmac } from "node:crypto";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { webhookHeaders } from "@cloud-sandbox/protocol";
import packageJson from "../../package.json" with { type: "json" };
import { isPublicAddress } from "../addresses/public-address.js";
import type { NameResolver } from "../egress/name-resolver.js";
import { type Callback, isPrivateHost } from "./callback.js";

export interface CallbackAnswer {
  readonly status: number;
  /** What its `Retry-After` says, in milliseconds from now. */
  readonly retryAfterMs: number | undefined;
}

/** The name stands for an address that nothing is sent to, whatever it stands for later. */
export class PrivateAddressError extends Error {
  constructor() {
    super("The callback's address is not a public one.");
    this.name = "PrivateAddressError";
  }
}

/** Of the answer, read for the receiver's sake only. */
const readBytes = 64 * 1024;

/**
 * Sends a report once and resolves with what the receiver says of it. Redirects are not followed. Rejects when there is
 * no answer in time, and with a {@link PrivateAddressError}; addresses are looked at when they are connected to.
 */
export function sendCallback(
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
  if (!options.allowPrivateAddresses && isPrivateHost(url)) return Promise.reject(new PrivateAddressError());
  const body = Buffer.from(report.body);
  const send = url.protocol === "https:" ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const call = send(url, {
      method: "POST",
      agent: false,
      signal: AbortSignal.any([options.signal, AbortSignal.timeout(options.timeoutMs)]),
      ...(!options.allowPrivateAddresses && { lookup: publicLookup(options.resolve) }),
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
    call.once("response", (answer) => {
      resolve({ status: answer.statusCode ?? 0, retryAfterMs: retryAfter(answer.headers["retry-after"]) });
      discard(answer);
    });
    call.end(body);
  });
}

const signature = (body: Buffer, secret: string): string =>
  `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;

/** Two spellings of a name would be two headers. */
const lowerCased = (headers: Callback["headers"]): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

/** Gives addresses that are all public, or none: the one connected to is one of those that were looked at. */
function publicLookup(resolve: NameResolver): LookupFunction {
  const look = async (name: string): Promise<{ address: string; family: number }[]> => {
    const addresses = await resolve(name);
    if (!addresses.every((address) => isPublicAddress(address))) throw new PrivateAddressError();
    return addresses.map((address) => ({ address, family: isIP(address) }));
  };
  return (name, { all }, callback) => {
    look(name).then(
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
    if (read > readBytes) answer.destroy();
  });
  // What it says is known already.
  answer.on("error", () => answer.destroy());
}
