import { type Informer, makeInformer, type ObjectCache, type V1Pod } from "@kubernetes/client-node";
import type { Cluster } from "./cluster.js";
import { serverLabel } from "./pod.js";

/** Milliseconds before the watch is tried again when the API server does not answer. */
const retryMs = 1000;

/** Follows the Pods of this process. */
export class PodWatch {
  readonly #informer: Informer<V1Pod> & ObjectCache<V1Pod>;
  /** Called when a Pod has changed or is gone. */
  readonly #waiting = new Map<string, Set<(pod: V1Pod | undefined) => void>>();
  #isClosed = false;

  readonly #namespace: string;

  private constructor({ config, api, namespace }: Cluster, server: string) {
    this.#namespace = namespace;
    const labelSelector = `${serverLabel}=${server}`;
    const path = `/api/v1/namespaces/${namespace}/pods`;
    const list = () => api.listNamespacedPod({ namespace, labelSelector });
    this.#informer = makeInformer(config, path, list, labelSelector);
    for (const event of ["add", "update"] as const) this.#informer.on(event, (pod) => this.#tell(pod, pod));
    this.#informer.on("delete", (pod) => this.#tell(pod, undefined));
    this.#informer.on("error", () => this.#startLater());
  }

  static async open(cluster: Cluster, server: string): Promise<PodWatch> {
    const watch = new PodWatch(cluster, server);
    await watch.#informer.start();
    return watch;
  }

  /** Calls `see` with the Pod of that name, as it is now and after each change; with undefined when it is gone. Returns how to stop. */
  follow(name: string, see: (pod: V1Pod | undefined) => void): () => void {
    const followers = this.#waiting.get(name) ?? new Set();
    this.#waiting.set(name, followers.add(see));
    const known = this.#informer.get(name, this.#namespace);
    // Later, because the caller does not know yet how to stop.
    if (known) queueMicrotask(() => followers.has(see) && see(known));
    return () => {
      followers.delete(see);
      if (followers.size === 0) this.#waiting.delete(name);
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#informer.stop();
  }

  #tell({ metadata }: V1Pod, now: V1Pod | undefined): void {
    for (const see of [...(this.#waiting.get(metadata?.name ?? "") ?? [])]) see(now);
  }

  #startLater(): void {
    setTimeout(() => {
      if (!this.#isClosed) this.#informer.start().catch(() => this.#startLater());
    }, retryMs).unref();
  }
}
