import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { MachineChannel } from "../container/channel/machine-channel.js";
import { reasonOf } from "./cluster.js";

/** Milliseconds that one attempt to connect may take, and the pauses between attempts, which double from the first to the longest. */
const attemptMs = 15_000;
const firstPauseMs = 50;
const longestPauseMs = 1000;

export interface PodConnectionParts {
  /** Connects to the Pod's supervisor, which may not listen yet. The connection is of no use once the signal aborts. */
  readonly reach: (signal: AbortSignal) => Promise<Socket>;
  /** Whether the Pod has ended for good. Rejects when the cluster does not tell. */
  readonly hasEnded: () => Promise<boolean>;
  readonly secret: string;
  /** Where this process serves the machine's way to the internet. Undefined if it has none. */
  readonly egressSocket: string | undefined;
  /** Milliseconds after which a connection that was cut and cannot be made anew is given up. */
  readonly waitMs: number;
}

/** The connection to a Pod. When it is cut it is made anew while the Pod runs: calls in it fail, what runs in the Pod goes on. */
export class PodConnection {
  /** Resolves, with why, when the Pod has ended or could not be reached for long. Also when the connection is closed. */
  readonly lost: Promise<string>;
  readonly #closing = new AbortController();
  #channel: Promise<MachineChannel>;

  constructor(
    private readonly parts: PodConnectionParts,
    /** How long the first attempts may take. */
    limit: AbortSignal,
  ) {
    this.#channel = this.#open(limit);
    this.lost = this.#keep();
  }

  /** The connection as it is, or the next one. Rejects when there will be none. */
  channel(): Promise<MachineChannel> {
    return this.#channel;
  }

  /** Joins a caller's connection with a new one to the agent. Closes it if the Pod cannot be reached any more. */
  toAgent(socket: Socket): void {
    this.#channel.then(
      (channel) => channel.toAgent(socket),
      () => socket.destroy(),
    );
  }

  close(): void {
    this.#closing.abort();
    this.#channel.then(
      (channel) => channel.close(),
      () => undefined,
    );
  }

  async #keep(): Promise<string> {
    try {
      for (;;) {
        await (await this.#channel).closed;
        this.#channel = this.#open(AbortSignal.timeout(this.parts.waitMs));
      }
    } catch (error) {
      return reasonOf(error);
    }
  }

  async #open(limit: AbortSignal): Promise<MachineChannel> {
    const signal = AbortSignal.any([limit, this.#closing.signal]);
    let failure: unknown;
    for (let pause = firstPauseMs; !signal.aborted; pause = Math.min(2 * pause, longestPauseMs)) {
      try {
        return await this.#attempt(AbortSignal.any([signal, AbortSignal.timeout(attemptMs)]));
      } catch (error) {
        // The end of an attempt by the limit says nothing about the Pod.
        if (!signal.aborted) failure = error;
      }
      if (await this.parts.hasEnded().catch(() => false)) throw new Error("it has ended");
      await sleep(pause, undefined, { signal, ref: false }).catch(() => undefined);
    }
    throw new Error(`it could not be reached${failure === undefined ? "" : ` (${reasonOf(failure)})`}`);
  }

  async #attempt(signal: AbortSignal): Promise<MachineChannel> {
    const { reach, secret, egressSocket } = this.parts;
    const carrier = await reach(signal);
    const channel = new MachineChannel(carrier.unref(), secret);
    const giveUp = (): void => channel.close();
    signal.addEventListener("abort", giveUp);
    try {
      await channel.greet();
    } catch (error) {
      channel.close();
      throw error;
    } finally {
      signal.removeEventListener("abort", giveUp);
    }
    if (egressSocket !== undefined) channel.carryEgress(egressSocket);
    return channel;
  }
}
