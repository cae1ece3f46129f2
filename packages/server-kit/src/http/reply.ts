import type { Readable } from "node:stream";

/** An answer that is not the JSON of its operation's success: another status, other headers, a body of another kind. */
export class Reply<Body = string | Uint8Array | Readable | undefined> {
  constructor(
    readonly body: Body,
    readonly headers: Readonly<Record<string, string>> = {},
    readonly status = 200,
  ) {}
}
