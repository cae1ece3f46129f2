import { lookup } from "node:dns/promises";
import pLimit from "p-limit";
import { type NameResolver, nameServers } from "../egress/name-resolver.js";

/** How the ends of asynchronous executions are reported to their callback URLs. */
export interface WebhookOptions {
  /** Whether reports may be sent to private, loopback and other addresses that are not public. Default: false. */
  readonly allowPrivateAddresses?: boolean;
  /** Looks up a receiver's addresses, all of which must be public. Default: the name servers, then the operating system. */
  readonly resolve?: NameResolver;
  /** Milliseconds that one attempt may take. Default: 10,000. */
  readonly requestTimeoutMs?: number;
  /** Milliseconds before the second attempt; each further one waits three times as long. Default: 2,000. */
  readonly firstRetryMs?: number;
  /** The longest wait between two attempts, in milliseconds. Default: an hour. */
  readonly maxRetryMs?: number;
  /** A report is given up after this many attempts. Default: 12. */
  readonly maxAttempts?: number;
  /** A report is given up after this many milliseconds. Default: a day. */
  readonly maxAgeMs?: number;
}

const hour = 60 * 60 * 1000;

export const webhookDefaults: Required<WebhookOptions> = {
  allowPrivateAddresses: false,
  resolve: resolveName,
  requestTimeoutMs: 10_000,
  firstRetryMs: 2000,
  maxRetryMs: hour,
  maxAttempts: 12,
  maxAgeMs: 24 * hour,
};

/** One at a time: the operating system's look-up occupies one of the few threads of this process, for as long as a name server likes. */
const oneThread = pLimit(1);

/** Asks the name servers, and only for names that they do not know the operating system, which also knows the hosts file. */
async function resolveName(name: string): Promise<readonly string[]> {
  try {
    return await nameServers()(name);
  } catch (error) {
    if (!["ENOTFOUND", "ENODATA", "ECONNREFUSED"].includes((error as NodeJS.ErrnoException).code ?? ""))
      throw error;
    const found = await oneThread(() => lookup(name, { all: true }));
    return found.map(({ address }) => address);
  }
}
