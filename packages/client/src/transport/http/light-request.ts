import { MultipartForm } from "./multipart.js";
import type { RequestBody } from "./transport.js";

/** Call options that are not part of the API. openapi-fetch passes them through in `init`. */
export type CallInit = {
  signal?: AbortSignal;
  /** Seconds until the answer must have arrived, retries included. */
  requestTimeout?: number;
  /** Called with the number of body bytes sent so far in this attempt. */
  onSent?: (bytes: number) => void;
  /** The most bytes to accept of a successful answer, in place of the default; the rest is not received. */
  maxBytes?: number;
  /** Called with an answer that the caller does not get, because a hook threw. */
  onLost?: (answer: Response) => void;
  /** A request of a call that is already running; allowed after close began. */
  isPart?: boolean;
};

interface LightRequestInit extends CallInit {
  method?: string;
  headers?: Headers;
  body?: RequestBody | null;
  operation?: string;
  isParsed?: boolean;
}

/** A request as openapi-fetch creates it, without the cost of a real `Request`. */
export class LightRequest {
  readonly method: string;
  readonly headers: Headers;
  readonly body: RequestBody | null;
  readonly signal: AbortSignal | undefined;
  readonly requestTimeout?: number | undefined;
  readonly onSent?: CallInit["onSent"] | undefined;
  readonly maxBytes?: number | undefined;
  readonly onLost?: CallInit["onLost"] | undefined;
  /** Path as in the API description. */
  readonly operation?: string | undefined;
  /** Whether the answer is parsed as JSON. */
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
    // Correct the content type: openapi-fetch sets JSON for everything but `FormData`.
    const { body } = this;
    if (body instanceof MultipartForm) this.headers.set("content-type", body.contentType);
    else if (typeof body === "object" && this.headers.get("content-type") === "application/json")
      this.headers.set("content-type", "application/octet-stream");
  }
}
