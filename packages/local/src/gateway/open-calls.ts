import type { EventEmitter } from "node:events";
import type { Duplex } from "node:stream";

/** Milliseconds between two checks of the calls that are open. */
const checkMs = 500;

export interface OpenCall {
  readonly socket: Duplex;
  /** Emits "close" when the call is over. */
  readonly answered: EventEmitter;
  /** Whether the API key or the link with which the call was made is still valid. */
  readonly isAllowed: () => boolean;
}

/**
 * Cuts calls that are open when their API key or link ends: streams, terminals, tunnels, WebSockets and requests that wait. A new
 * call is refused, but these would go on for hours.
 */
export class OpenCalls {
  readonly #calls = new Set<OpenCall>();
  #timer: NodeJS.Timeout | undefined;

  add(call: OpenCall): void {
    // It ended while its link was checked, and says so no more.
    if (call.socket.destroyed) return;
    this.#calls.add(call);
    this.#timer ??= setInterval(() => this.#cut(), checkMs).unref();
    call.answered.once("close", () => {
      this.#calls.delete(call);
      if (this.#calls.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    });
  }

  #cut(): void {
    for (const { socket, isAllowed } of this.#calls) if (!isAllowed()) socket.destroy();
  }
}
