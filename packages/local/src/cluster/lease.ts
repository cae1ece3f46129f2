import { EventEmitter, once } from "node:events";
import { type V1Lease, V1MicroTime } from "@kubernetes/client-node";
import pLimit from "p-limit";
import { statusOf } from "../runtime/kubernetes/cluster.js";
import { ownLabel } from "../runtime/kubernetes/pod.js";
import { apiReason, type ClusterApi } from "./cluster-api.js";

const name = "cloud-sandbox-local";
/** Says at which host and port the leader answers. */
const addressAnnotation = "cloud-sandbox.dev/address";
/** Says where the leader answered that has given the Lease back, and still ends its calls. */
const endingAnnotation = "cloud-sandbox.dev/ending";

/**
 * Milliseconds, as Kubernetes' own controllers have them. Others may lead when a Lease was not renewed for `durationMs`. The
 * leader stops earlier to count on it, so that a request that it has sent before has ended when another one leads.
 */
const durationMs = 15_000;
const trustMs = 10_000;
const renewMs = 2000;
const lookMs = 500;
/** Milliseconds between two looks at the Lease after which the API server counts as having been away. */
const longestGapMs = 6000;

/** A time for which this server leads without a break. Once it is over it stays so, also when this server leads again. */
export interface Term {
  /** Whether it lasts, and no other server can lead. False while the API server is away for long. */
  readonly isHeld: boolean;
  /** Aborts when another server leads, or may do so for all this server knows of a Lease that is gone. */
  readonly over: AbortSignal;
}

/**
 * Decides which one of several servers leads: the one that holds a Lease of the cluster. No clock of another machine counts: a
 * Lease has expired when this process has looked at it for its duration and seen no change.
 */
export class Lease {
  readonly #events = new EventEmitter().setMaxListeners(0);
  readonly #oneAtATime = pLimit(1);
  /** The Lease as it was read or written last, and when this process first saw it so. */
  #seen: { readonly lease: V1Lease; readonly at: number } | undefined;
  /** When the Lease was read or written last. */
  #lookedAt = 0;
  /** Undefined if another server holds the Lease, or none. */
  #term: RenewedTerm | undefined;
  #isWanted = false;
  #address: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #problem: string | undefined;

  constructor(
    private readonly cluster: ClusterApi,
    /** Names this process among the servers. */
    private readonly identity: string,
    private readonly log: (message: string) => void,
  ) {}

  /** Begins to look at the Lease, and to take it when it is free. Rejects if the API server refuses that. */
  async open(): Promise<void> {
    await this.#read();
    this.#isWanted = true;
    await this.#step();
    this.#schedule();
  }

  /** Whether this server leads, and no other one can. False while the API server is away for long. */
  get isHeld(): boolean {
    return this.#term?.isHeld ?? false;
  }

  /** The time for which this server leads now. */
  get term(): Term | undefined {
    return this.#term;
  }

  /** Where the leader answers, as host and port. Undefined if nobody leads, or it does not answer yet. */
  get address(): string | undefined {
    return this.#seen?.lease.metadata?.annotations?.[addressAnnotation];
  }

  /** Where the server answers that led before and still ends its calls. Undefined if it did not give the Lease back. */
  get endingAddress(): string | undefined {
    return this.#seen?.lease.metadata?.annotations?.[endingAnnotation];
  }

  /** Resolves when this server leads. */
  async held(signal: AbortSignal): Promise<Term> {
    while (!this.#term) await once(this.#events, "held", { signal });
    return this.#term;
  }

  /** Tells the others where this server answers. */
  async announce(address: string): Promise<void> {
    this.#address = address;
    await this.#step();
  }

  /** Lets another server lead at once. This one does not lead again before `want`. */
  async release(): Promise<void> {
    this.#isWanted = false;
    await this.#oneAtATime(async () => {
      const ending = this.#address;
      if (!this.#term) return;
      this.#endTerm();
      // If the API server does not answer, the Lease expires.
      if (this.#seen) await this.#write(this.#seen.lease, undefined, ending).catch(() => undefined);
    });
  }

  /** Lets this server lead again after `release`. */
  want(): void {
    this.#isWanted = true;
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.release();
  }

  #schedule(): void {
    const pause = this.#term ? renewMs : lookMs;
    this.#timer = setTimeout(() => {
      void this.#step()
        .catch((error: unknown) =>
          this.#report(`The Lease ${name} cannot be read or renewed: ${apiReason(error)}.`),
        )
        .finally(() => {
          if (this.#timer) this.#schedule();
        });
    }, pause).unref();
  }

  #step(): Promise<void> {
    return this.#oneAtATime(async () => {
      const known = this.#term ? this.#seen?.lease : await this.#read();
      if (this.#isWanted && (this.#term || this.#isFree)) await this.#take(known);
      this.#report(undefined);
    });
  }

  /** Takes the Lease, or renews it. Another server that does so at the same time may win. */
  async #take(known: V1Lease | undefined): Promise<void> {
    const begun = moment();
    try {
      await this.#write(known, this.identity);
    } catch (error) {
      // The Lease was changed by another replica, or by this one in a request whose answer was lost.
      if (statusOf(error) !== 409 && statusOf(error) !== 404) throw error;
      const now = await this.#read();
      if (now?.spec?.holderIdentity === this.identity) await this.#write(now, this.identity);
      else return this.#endTerm();
    }
    if (this.#term) {
      this.#term.renewed = begun;
    } else {
      this.#term = new RenewedTerm(begun);
      this.#events.emit("held");
    }
  }

  #endTerm(): void {
    const term = this.#term;
    this.#term = undefined;
    this.#address = undefined;
    term?.end();
  }

  get #isFree(): boolean {
    if (!this.#seen) return true;
    const { lease, at } = this.#seen;
    const { holderIdentity, leaseDurationSeconds = durationMs / 1000 } = lease.spec ?? {};
    if (!holderIdentity || holderIdentity === this.identity) return true;
    return performance.now() - at > leaseDurationSeconds * 1000;
  }

  async #read(): Promise<V1Lease | undefined> {
    const { coordination, namespace } = this.cluster;
    try {
      return this.#see(await coordination.readNamespacedLease({ namespace, name }));
    } catch (error) {
      if (statusOf(error) !== 404) throw error;
      this.#seen = undefined;
      return undefined;
    }
  }

  /** Writes a Lease if it is still as `known`. */
  async #write(
    known: V1Lease | undefined,
    holderIdentity: string | undefined,
    ending = endingAfter(known, holderIdentity),
  ): Promise<void> {
    const { coordination, namespace } = this.cluster;
    const { spec: before = {}, metadata = {} } = known ?? {};
    const now = new V1MicroTime();
    const isSame = before.holderIdentity === holderIdentity;
    const { [addressAnnotation]: _, [endingAnnotation]: __, ...annotations } = metadata.annotations ?? {};
    const body: V1Lease = {
      metadata: {
        name,
        labels: { ...ownLabel },
        ...(metadata.resourceVersion !== undefined && { resourceVersion: metadata.resourceVersion }),
        annotations: {
          ...annotations,
          ...(this.#address !== undefined && { [addressAnnotation]: this.#address }),
          ...(ending !== undefined && { [endingAnnotation]: ending }),
        },
      },
      spec: {
        ...(holderIdentity !== undefined && { holderIdentity, leaseDurationSeconds: durationMs / 1000 }),
        acquireTime: (isSame && before.acquireTime) || now,
        renewTime: now,
        leaseTransitions: (before.leaseTransitions ?? 0) + (isSame ? 0 : 1),
      },
    };
    this.#see(
      await (known
        ? coordination.replaceNamespacedLease({ namespace, name, body })
        : coordination.createNamespacedLease({ namespace, body })),
    );
  }

  #see(lease: V1Lease): V1Lease {
    const now = performance.now();
    const isSame = this.#seen?.lease.metadata?.resourceVersion === lease.metadata?.resourceVersion;
    // While the API server was away the leader could not renew the Lease: begin to count anew.
    const wasAway = now - this.#lookedAt > longestGapMs;
    if (!isSame || wasAway) this.#seen = { lease, at: now };
    this.#lookedAt = now;
    return lease;
  }

  /** Logs what is wrong once, until it is mended. */
  #report(problem: string | undefined): void {
    if (problem !== undefined && this.#problem === undefined) this.log(problem);
    if (problem === undefined && this.#problem !== undefined) this.log("The API server answers again.");
    this.#problem = problem;
  }
}

class RenewedTerm implements Term {
  readonly #over = new AbortController();
  readonly over = this.#over.signal;

  constructor(
    /** When the request was sent that renewed the Lease last. */
    public renewed: Moment,
  ) {}

  get isHeld(): boolean {
    return !this.over.aborted && ageOf(this.renewed) < trustMs;
  }

  end(): void {
    this.#over.abort();
  }
}

/** The leader that still ends its calls. One that lost the Lease does not, because it may have been killed. */
function endingAfter(known: V1Lease | undefined, holderIdentity: string | undefined): string | undefined {
  const last = known?.spec?.holderIdentity;
  const isLost = last !== undefined && last !== "" && last !== holderIdentity;
  return isLost ? undefined : known?.metadata?.annotations?.[endingAnnotation];
}

/** A time by two clocks: one does not go on while the machine sleeps, the other one can be set. */
interface Moment {
  readonly monotonic: number;
  readonly date: number;
}

const moment = (): Moment => ({ monotonic: performance.now(), date: Date.now() });

const ageOf = ({ monotonic, date }: Moment): number =>
  Math.max(performance.now() - monotonic, Date.now() - date);
