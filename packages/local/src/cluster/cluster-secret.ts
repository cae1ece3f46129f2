import { Problem } from "@cloud-sandbox/server-kit";
import type { V1Secret } from "@kubernetes/client-node";
import { statusOf } from "../runtime/kubernetes/cluster.js";
import { ownLabel } from "../runtime/kubernetes/pod.js";
import { apiReason, type ClusterApi } from "./cluster-api.js";

/** How often a change is tried while other servers change the Secret. */
const mostTries = 10;

/** Bytes that all values of a Secret may have together. Kubernetes refuses more. */
const mostBytes = 1024 * 1024;

/** The texts in a Secret, by key. */
export type Texts = Readonly<Record<string, string>>;

/** One Secret of the cluster, which all replicas share and nobody else may read. It holds 1 MiB. */
export class ClusterSecret {
  constructor(
    private readonly cluster: ClusterApi,
    private readonly name: string,
    /** What the texts are, for the error when there is no room for another one. */
    private readonly texts: string,
  ) {}

  async read(): Promise<Texts> {
    return decoded((await this.#read())?.data);
  }

  /** Changes the Secret, anew if another server does so at the same time. Resolves with what it has then. */
  async change(change: (known: Texts) => Texts | Promise<Texts>): Promise<Texts> {
    const { name } = this;
    const { core, namespace } = this.cluster;
    for (let tries = 1; ; tries += 1) {
      const secret = await this.#read();
      const known = decoded(secret?.data);
      const texts = await change(known);
      if (texts === known) return known;
      this.#requireRoom(texts);
      const metadata = { name, labels: { ...ownLabel } };
      const data = Object.fromEntries(
        Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString("base64")]),
      );
      try {
        if (!secret) await core.createNamespacedSecret({ namespace, body: { metadata, data } });
        else {
          const resourceVersion = secret.metadata?.resourceVersion ?? "";
          const body: V1Secret = { metadata: { ...metadata, resourceVersion }, data };
          await core.replaceNamespacedSecret({ namespace, name, body });
        }
        return texts;
      } catch (error) {
        if (statusOf(error) !== 409 || tries === mostTries) throw this.#refused(error);
      }
    }
  }

  async #read(): Promise<V1Secret | undefined> {
    const { name } = this;
    const { core, namespace } = this.cluster;
    try {
      return await core.readNamespacedSecret({ namespace, name });
    } catch (error) {
      if (statusOf(error) === 404) return undefined;
      throw this.#refused(error);
    }
  }

  /** Not a 503: waiting makes no room. */
  #requireRoom(texts: Texts): void {
    const bytes = Object.values(texts).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    if (bytes > mostBytes)
      throw new Problem(
        400,
        "RESOURCE_LIMIT_ERROR",
        `There is no room for it: the cluster keeps ${this.texts} in one Secret (${this.name}), which holds 1 MiB.`,
        { hint: "Delete those that are no longer needed." },
      );
  }

  #refused(cause: unknown): Error {
    return new Error(`the Secret ${this.name} cannot be read or written (${apiReason(cause)})`, { cause });
  }
}

const decoded = (data: V1Secret["data"] = {}): Texts =>
  Object.fromEntries(
    Object.entries(data).map(([key, text]) => [key, Buffer.from(text, "base64").toString("utf8")]),
  );
