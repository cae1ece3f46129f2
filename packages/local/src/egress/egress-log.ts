import type { Socket } from "node:net";
import type { EgressEntry, EgressRequest, EgressTotals } from "@cloud-sandbox/server-kit/handlers";
import type { Destination } from "./destination.js";

export type EgressProtocol = Exclude<EgressEntry["protocol"], "https">;

const keptEntries = 1000;

/**
 * The connections that a sandbox requested: the last 1,000 as entries, all of them in the totals. Requests to hosts that have a secret are
 * entries too, but no connections.
 */
export class EgressLog {
  #entries: (LoggedAttempt | LoggedRequest)[] = [];
  #count = 0;
  readonly #totals = { allowed: 0, refused: 0, failed: 0, dropped: 0, bytesSent: 0, bytesReceived: 0 };

  begin(protocol: EgressProtocol, destination: Destination): LoggedAttempt {
    this.#count += 1;
    const attempt = new LoggedAttempt(this.#count, protocol, destination, (decision, sent, received) => {
      this.#totals[decision] += 1;
      this.#totals.bytesSent += sent;
      this.#totals.bytesReceived += received;
    });
    this.#add(attempt);
    return attempt;
  }

  /** Records a request to a host that has a secret. */
  request(destination: Destination, method: string, target: string): LoggedRequest {
    this.#count += 1;
    const request = new LoggedRequest(this.#count, destination, method, target);
    this.#add(request);
    return request;
  }

  #add(entry: LoggedAttempt | LoggedRequest): void {
    this.#entries.push(entry);
    // Drop old entries in batches: to drop one at a time would copy the whole list for each connection.
    if (this.#entries.length >= 2 * keptEntries) this.#entries = this.#entries.slice(-keptEntries);
  }

  noteDropped(): void {
    this.#totals.dropped += 1;
  }

  /** The last 1,000 connections, the oldest first. */
  get entries(): readonly EgressEntry[] {
    return this.#entries.slice(-keptEntries);
  }

  get totals(): EgressTotals {
    const totals = { ...this.#totals };
    for (const entry of this.#entries) {
      const { isOpen, bytesSent, bytesReceived } = entry;
      if (!isOpen || entry instanceof LoggedRequest) continue;
      totals.allowed += 1;
      totals.bytesSent += bytesSent;
      totals.bytesReceived += bytesReceived;
    }
    return totals;
  }
}

type Settled = (decision: "allowed" | "refused" | "failed", bytesSent: number, bytesReceived: number) => void;

/** The entry of a connection that is still being made or open. */
export class LoggedAttempt implements EgressEntry {
  readonly time = new Date();
  readonly host: string;
  readonly port: number;
  address: string | undefined;
  decision: EgressEntry["decision"] = "pending";
  reason: string | undefined;
  rule: string | undefined;
  readonly #began = performance.now();
  #ended: number | undefined;
  #socket: Socket | undefined;
  #sent = 0;
  #received = 0;

  constructor(
    readonly sequence: number,
    readonly protocol: EgressProtocol,
    { host, port }: Destination,
    private readonly onSettled: Settled,
  ) {
    this.host = host;
    this.port = port;
  }

  get isOpen(): boolean {
    return this.#socket !== undefined;
  }

  get bytesSent(): number {
    return this.#socket?.bytesWritten ?? this.#sent;
  }

  get bytesReceived(): number {
    return this.#socket?.bytesRead ?? this.#received;
  }

  get durationMs(): number {
    return Math.round((this.#ended ?? performance.now()) - this.#began);
  }

  allow(socket: Socket, address: string | undefined): void {
    this.decision = "allowed";
    this.address = address;
    this.#socket = socket;
    socket.once("close", () => {
      this.#sent = socket.bytesWritten;
      this.#received = socket.bytesRead;
      this.#socket = undefined;
      this.#end("allowed");
    });
  }

  end(decision: "refused" | "failed", reason: string): void {
    this.decision = decision;
    this.reason = reason;
    this.#end(decision);
  }

  #end(decision: "allowed" | "refused" | "failed"): void {
    this.#ended = performance.now();
    this.onSettled(decision, this.#sent, this.#received);
  }
}

const longestPath = 512;
const longestMethod = 32;

/** The entry of a request to a host that has a secret. */
export class LoggedRequest implements EgressEntry {
  readonly time = new Date();
  readonly protocol = "https";
  readonly host: string;
  readonly port: number;
  readonly address = undefined;
  decision: EgressEntry["decision"] = "pending";
  reason: string | undefined;
  rule: string | undefined;
  /** Bytes of the request's body, and of the answer's. */
  bytesSent = 0;
  bytesReceived = 0;
  readonly #request: { -readonly [Key in keyof EgressRequest]: EgressRequest[Key] };
  readonly #began = performance.now();
  #ended: number | undefined;

  constructor(
    readonly sequence: number,
    { host, port }: Destination,
    method: string,
    target: string,
  ) {
    this.host = host;
    this.port = port;
    const [path = ""] = target.split("?");
    this.#request = {
      method: printable(method, longestMethod),
      path: printable(path, longestPath),
      status: undefined,
      secrets: [],
    };
  }

  get request(): EgressRequest {
    return this.#request;
  }

  get isOpen(): boolean {
    return this.#ended === undefined && this.decision === "allowed";
  }

  get durationMs(): number {
    return Math.round((this.#ended ?? performance.now()) - this.#began);
  }

  /** The request was sent, with these secrets. */
  allow(secrets: readonly string[]): void {
    this.decision = "allowed";
    this.#request.secrets = secrets;
  }

  answered(status: number): void {
    this.#request.status = status;
  }

  /** The request is over. Without a decision it was allowed. */
  end(decision?: "refused" | "failed", reason?: string): void {
    if (this.#ended !== undefined) return;
    this.#ended = performance.now();
    if (decision === undefined) return;
    this.decision = decision;
    this.reason = reason;
  }
}

/** The beginning of a text as one line: HTTP/2 lets a program write any bytes. A copy, because a slice keeps the whole text. */
const printable = (text: string, longest: number): string =>
  Buffer.from(text.slice(0, longest).replace(/[^!-~]/g, "?")).toString();
