import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { Server } from "node:http";
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { ClusterRecordsError, InvalidRecordsError, PortUnavailableError } from "../errors/local-errors.js";
import { messageOf } from "../errors/message-of.js";
import { openCluster } from "../runtime/kubernetes/cluster.js";
import type { KubernetesOptions } from "../runtime/runtime-options.js";
import { MemoryEventLog } from "../store/event-log.js";
import type { Store } from "../store/store.js";
import { persistentApiKey, persistentTokenIssuer } from "../tokens/token-issuer.js";
import { apiReason, clusterApi } from "./cluster-api.js";
import { ClusterKeys } from "./cluster-keys.js";
import { clusterStore } from "./cluster-store.js";
import { Lease, type Term } from "./lease.js";
import { ReplicaProxy } from "./replica-proxy.js";

/** Milliseconds before a server tries again to lead that has failed to begin. */
const retryMs = 5000;

export interface ReplicaOptions {
  readonly apiKey?: string | undefined;
  /** The address to listen on. */
  readonly host: string;
  readonly port?: number;
  readonly kubernetes?: KubernetesOptions;
  readonly holdsProcess?: boolean;
  readonly log?: (message: string) => void;
}

export interface ReplicaParts<Runtime extends { close(): Promise<void> }> {
  /** The runtime. Its machines may be started and ended only while `mayAct` says so. */
  readonly runtime: (mayAct: () => boolean) => Promise<Runtime>;
  /** Starts the control plane. `open` lets callers reach its server, and resolves with its base URL. */
  readonly serve: (
    runtime: Runtime,
    store: Store,
    apiKey: string,
    open: (server: Server) => Promise<string>,
  ) => Promise<Plane>;
}

/** A control plane that runs. */
interface Plane {
  /** Leaves sandboxes running for the next one. */
  close(): Promise<void>;
}

/** A control plane, for the term in which it has read the records. */
interface Leadership {
  readonly plane: Plane;
  readonly term: Term;
}

export interface Replica<Runtime> {
  readonly url: string;
  readonly apiKey: string;
  readonly runtime: Runtime;
  close(): Promise<void>;
}

/**
 * Starts one of several servers that act as one. The records are in the cluster. The server that holds a Lease of the cluster
 * leads: it has the sandboxes, and the others pass callers on to it. When it ends, another one goes on with the same sandboxes.
 */
export async function startReplica<Runtime extends { close(): Promise<void> }>(
  options: ReplicaOptions,
  parts: ReplicaParts<Runtime>,
): Promise<Replica<Runtime>> {
  const { host, port = 0, log = () => undefined } = options;
  let mayAct = (): boolean => false;
  // First, because the runtime says best what is wrong with a kubeconfig or a cluster.
  const runtime = await parts.runtime(() => mayAct());
  const cluster = clusterApi(openCluster(options.kubernetes ?? {}));
  const lease = new Lease(cluster, `${hostname()}_${randomBytes(4).toString("hex")}`, log);
  const keys = new ClusterKeys(cluster, lease, new MemoryEventLog());
  const proxy = new ReplicaProxy(lease);
  const closing = new AbortController();
  mayAct = () => lease.isHeld;

  /** Begins to lead. */
  const begin = async (term: Term, apiKey: string, url: string): Promise<Leadership> => {
    const store = clusterStore({ cluster, term, log });
    let address = "";
    const plane = await parts
      .serve(runtime, store, apiKey, async (server) => {
        address = await proxy.lead(server, host, port === 0 ? 0 : port + 1);
        return url;
      })
      .catch(async (error: unknown) => {
        proxy.follow();
        await store.close();
        throw error;
      });
    // If the API server does not answer now, the next renewal tells the address.
    if (!term.over.aborted) await lease.announce(address).catch(() => undefined);
    log("This server leads.");
    return { plane, term };
  };

  /** Leads whenever it can, until it closes. */
  const lead = async (
    first: Leadership | undefined,
    again: (term: Term) => Promise<Leadership>,
  ): Promise<void> => {
    let leadership = first;
    while (leadership || !closing.signal.aborted) {
      if (leadership) {
        const { plane, term } = leadership;
        await aborted(AbortSignal.any([term.over, closing.signal]));
        if (closing.signal.aborted) await proxy.finishCalls();
        else proxy.follow();
        await plane.close().catch((error: unknown) => log(`Ceasing to lead: ${messageOf(error)}`));
        leadership = undefined;
        if (!closing.signal.aborted) log("Another server leads now. This one passes callers on to it.");
      } else {
        const term = await lease.held(closing.signal).catch(() => undefined);
        if (!term || closing.signal.aborted) return;
        leadership = await again(term).catch((error: unknown) => {
          log(
            `This server could not begin to lead, and tries again in ${retryMs / 1000} s: ${messageOf(error)}`,
          );
          return undefined;
        });
        if (leadership) continue;
        await lease.release();
        await sleep(retryMs, undefined, { signal: closing.signal, ref: false }).catch(() => undefined);
        lease.want();
      }
    }
  };

  const end = async (): Promise<void> => {
    await lease.close();
    proxy.close();
    await runtime.close();
  };
  try {
    const apiKey = options.apiKey ?? (await persistentApiKey(keys));
    // Made before any server leads, because all of them must have the same.
    await persistentTokenIssuer(keys);
    const url = await proxy.open(host, port);
    if (options.holdsProcess === false) proxy.unref();
    await lease.open();
    const again = (term: Term): Promise<Leadership> => begin(term, apiKey, url);
    const leading = lead(lease.term && (await again(lease.term)), again);
    if (!lease.isHeld) log("Another server leads. This one passes callers on to it.");
    const close = async (): Promise<void> => {
      proxy.beginToEnd();
      closing.abort();
      await leading;
      await lease.release();
      await proxy.passOnRest();
      await end();
    };
    return { url, apiKey, runtime, close };
  } catch (error) {
    await end();
    if (error instanceof PortUnavailableError || error instanceof InvalidRecordsError) throw error;
    throw new ClusterRecordsError(apiReason(error), { cause: error });
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
}
