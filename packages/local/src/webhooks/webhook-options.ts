import { type NameResolver, nameServers } from "../addresses/name-servers.js";
import { systemNames } from "../addresses/system-names.js";

/** How the ends of asynchronous executions are reported to their callback URLs. */
export interface WebhookOptions {
  /** Whether reports may be sent to private, loopback and other addresses that are not public. Default: false. */
  readonly allowPrivateAddresses?: boolean;
  /** Looks up a receiver's addresses, all of which must be public. Default: as the machine's programs look it up. */
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
  resolve: systemNames(nameServers()),
  requestTimeoutMs: 10_000,
  firstRetryMs: 2000,
  maxRetryMs: hour,
  maxAttempts: 12,
  maxAgeMs: 24 * hour,
};
