import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { unlessAborted } from "@cloud-sandbox/server-kit";
import type { Assignment } from "./channel-protocol.js";
import { countdown } from "./countdown.js";
import { MachineChannel } from "./machine-channel.js";

/** Milliseconds that one attempt to connect may take, and the pauses between attempts. Each is by a quarter longer than the last one. */
const attemptMs = 15_000;
const firstPauseMs = 20;
const longestPauseMs = 1000;

export interface MachineConnectionParts {
  /** Connects to the machine's supervisor, which may not listen yet. The connection is of no use once the signal aborts. */
  readonly reach: (signal: AbortSignal) => Promise<Socket>;
  /** Whether the machine has ended for good. Rejects if that cannot be found out now. */
  readonly hasEnded: () => Promise<boolean>;
  /** Whether an earlier process has started the machine's agent. Default: no. */
  readonly isAdopted?: boolean;
  /** Whether the machine is frozen, so that it cannot answer. */
  readonly isFrozen: () => boolean;
  readonly secret: string;
  /** The address at which this process serves the machine's egress. Undefined if it has none. */
  readonly egressSocket: string | undefined;
  /** Milliseconds after which a connection that was cut and cannot be made anew is given up. */
  readonly waitMs: number;
  /** The message of an error of `reach`. */
  readonly reasonOf: (error: unknown) => string;
}

/** A machine that has no agent yet is another one, in the place of the one that had. */
class ReplacedError extends Error {
  constructor() {
    super("it has ended, and another machine is in its place");
  }
}

/**
 * The connection to a machine's supervisor. When it is cut it is made anew while the machine runs: calls in it fail, what runs in
 * the machine goes on.
 */
export class MachineConnection {
  /** Resolves, with why, when the machine has ended or could not be reached for long. Also when the connection is closed. */
  readonly lost: Promise<string>;
  readonly #closing = new AbortController();
  #channel: Promise<MachineChannel>;
  #isCut = true;
  #hasAgent: boolean;
  /** The last attempt to connect. */
  #attempting: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly parts: MachineConnectionParts,
    /** How long the first attempts may take, in milliseconds. */
    limitMs: number,
  ) {
    this.#hasAgent = parts.isAdopted ?? false;
    this.#channel = this.#open(limitMs);
    this.lost = this.#keep();
  }

  /** Whether the machine cannot be reached now. */
  get isCut(): boolean {
    return this.#isCut;
  }

  /** Resolves when the first connection to the machine is made. */
  async reached(): Promise<void> {
    await this.#channel;
  }

  /** Starts the agent of a new machine. */
  async assign(assignment: Assignment): Promise<void> {
    await (await this.#channel).assign(assignment);
    this.#hasAgent = true;
  }

  /** Restarts the agent. Does nothing while the connection is cut: an agent that cannot be reached may be well. */
  async restartAgent(): Promise<void> {
    if (!this.#isCut) await (await this.#channel).restartAgent();
  }

  /** Joins a caller's connection with a new one to the agent. Closes it if the machine cannot be reached any more. */
  toAgent(socket: Socket): void {
    this.#channel.then(
      (channel) => channel.toAgent(socket),
      () => socket.destroy(),
    );
  }

  /** Resolves when no attempt to connect is under way. Once the machine counts as frozen, none begins. */
  async settled(): Promise<void> {
    await this.#attempting.catch(() => undefined);
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
        const channel = await this.#channel;
        this.#isCut = false;
        await channel.closed;
        this.#isCut = true;
        this.#channel = this.#open(this.parts.waitMs);
      }
    } catch (error) {
      return (error as Error).message;
    }
  }

  async #open(limitMs: number): Promise<MachineChannel> {
    const { hasEnded, isFrozen, reasonOf } = this.parts;
    const limit = new AbortController();
    const stop = countdown(
      limitMs,
      () => limit.abort(),
      () => !isFrozen(),
    );
    const signal = AbortSignal.any([limit.signal, this.#closing.signal]);
    let failure: unknown;
    try {
      for (let pause = firstPauseMs; !signal.aborted; pause = Math.min(1.25 * pause, longestPauseMs)) {
        if (!isFrozen())
          try {
            const attempt = this.#attempt(AbortSignal.any([signal, AbortSignal.timeout(attemptMs)]));
            this.#attempting = attempt;
            return await attempt;
          } catch (error) {
            if (error instanceof ReplacedError) throw error;
            // The end of an attempt by the limit says nothing about the machine.
            if (!signal.aborted) failure = error;
          }
        if (await hasEnded().catch(() => false)) throw new Error("it has ended");
        await sleep(pause, undefined, { signal, ref: false }).catch(() => undefined);
      }
    } finally {
      stop();
    }
    throw new Error(`it could not be reached${failure === undefined ? "" : ` (${reasonOf(failure)})`}`);
  }

  async #attempt(signal: AbortSignal): Promise<MachineChannel> {
    const { reach, secret, egressSocket, isFrozen } = this.parts;
    const reaching = reach(signal);
    const carrier = await unlessAborted(reaching, signal).catch((error: unknown) => {
      reaching.then(
        (late) => late.destroy(),
        () => undefined,
      );
      throw error;
    });
    const channel = new MachineChannel(carrier.unref(), secret, isFrozen);
    const giveUp = (): void => channel.close();
    signal.addEventListener("abort", giveUp);
    try {
      const { hasAgent } = await channel.greet();
      if (this.#hasAgent && !hasAgent) throw new ReplacedError();
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
