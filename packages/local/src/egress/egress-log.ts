import type { Socket } from "node:net";
import type { EgressEntry, EgressTotals } from "@cloud-sandbox/server-kit/handlers";
import type { Destination } from "./destination.js";

export type EgressProtocol = EgressEntry["protocol"];

const keptEntries = 1000;

/** The connections that a sandbox requested: the last 1,000 as entries, all of them in the totals. */
export class EgressLog {
  #entries: LoggedAttempt[] = [];
  #count = 0;
  readonly #totals = { allowed: 0, refused: 0, failed: 0, dropped: 0, bytesSent: 0, bytesReceived: 0 };

  begin(protocol: EgressProtocol, destination: Destination): LoggedAttempt {
    this.#count += 1;
    const attempt = new LoggedAttempt(this.#count, protocol, destination, (decision, sent, received) => {
      this.#totals[decision] += 1;
      this.#totals.bytesSent += sent;
      this.#totals.bytesReceived += received;
    });
    this.#entries.push(attempt);
    // Drop old entries in batches: to drop one at a time would copy the whole list for each connection.
    if (this.#entries.length >= 2 * keptEntries) this.#entries = this.#entries.slice(-keptEntries);
    return attempt;
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
    for (const { isOpen, bytesSent, bytesReceived } of this.#entries) {
      if (!isOpen) continue;
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
