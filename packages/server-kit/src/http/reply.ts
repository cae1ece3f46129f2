import type { Readable } from "node:stream";

/**
 * An answer other than the operation's usual JSON: with another status, with headers of its own, or with another kind
 * of body.
 */
export class Reply<Body = string | Uint8Array | Readable | undefined> {
  constructor(
    readonly body: Body,
    readonly headers: Readonly<Record<string, string>> = {},
    readonly status = 200,
  ) {}
}
