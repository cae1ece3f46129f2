import { MultipartForm } from "./multipart.js";
import type { RequestBody } from "./transport.js";

/** What a call may say beyond the contract; openapi-fetch hands it through as a part of `init`. */
export type CallInit = {
  signal?: AbortSignal;
  /** Seconds until the answer must have arrived, repetitions included. */
  requestTimeout?: number;
  /** Is told how many bytes of a body were sent so far, of this try. */
  onSent?: (bytes: number) => void;
  /** Most bytes of a successful answer, in place of what is usual; more is not received. */
  maxBytes?: number;
  /** Is given the answer that the caller does not get, because a hook threw. */
  onLost?: (answer: Response) => void;
  /** Another call may need it. */
  isPart?: boolean;
};

interface LightRequestInit extends CallInit {
  method?: string;
  headers?: Headers;
  body?: RequestBody | null;
  operation?: string;
  isParsed?: boolean;
}

/** What openapi-fetch makes of a call, without the cost of a real `Request`. */
export class LightRequest {
  readonly method: string;
  readonly headers: Headers;
  readonly body: RequestBody | null;
  readonly signal: AbortSignal | undefined;
  readonly requestTimeout?: number | undefined;
  readonly onSent?: CallInit["onSent"] | undefined;
  readonly maxBytes?: number | undefined;
  readonly onLost?: CallInit["onLost"] | undefined;
  /** The path as the contract has it. */
  readonly operation?: string | undefined;
  /** Whether JSON is expected. */
  readonly isParsed?: boolean;

  constructor(
    readonly url: string,
    init: LightRequestInit = {},
  ) {
    this.method = init.method ?? "GET";
    this.headers = init.headers ?? new Headers();
    this.body = init.body ?? null;
    this.signal = init.signal;
    this.requestTimeout = init.requestTimeout;
    this.onSent = init.onSent;
    this.maxBytes = init.maxBytes;
    this.onLost = init.onLost;
    this.operation = init.operation;
    this.isParsed = init.isParsed ?? false;
    // openapi-fetch takes all that is no FormData for JSON.
    const { body } = this;
    if (body instanceof MultipartForm) this.headers.set("content-type", body.contentType);
    else if (typeof body === "object" && this.headers.get("content-type") === "application/json")
      this.headers.set("content-type", "application/octet-stream");
  }
}
