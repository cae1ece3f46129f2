import { setTimeout as sleep } from "node:timers/promises";
import { ApisApi, CustomObjectsApi, type V1ObjectMeta, type V1Pod } from "@kubernetes/client-node";
import { apiClient, type Cluster, reasonOf, statusOf, UnusableClusterError } from "./cluster.js";
import { isOld, isOrphan, ownPods, ownSelector } from "./own-pods.js";
import type { PodMaker } from "./pod-maker.js";
import { removePod } from "./pod-states.js";
import type { PodWatch } from "./pod-watch.js";

const group = "agents.x-k8s.io";
const plural = "sandboxes";
/** The versions of the API that this program knows, the newest first. What it writes is the same in both. */
const knownVersions = ["v1beta1", "v1alpha1"];
/**
 * How long the controller may take to make a Pod, which takes it a fraction of a second. An upgraded controller begins when the
 * Lease of the last one has run out, after 15 s.
 */
const controllerLimitMs = 30_000;
/** How often the Sandbox is read while it has no Pod. The controller has tried several times by then. */
const askMs = 1000;

/** The fields of a Sandbox that are read. */
interface AgentSandbox {
  readonly metadata?: V1ObjectMeta;
  readonly status?: { readonly conditions?: readonly Condition[] };
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message?: string;
}

/**
 * Makes Sandboxes of the API `agents.x-k8s.io`, whose controller makes the Pods: each with the name of its Sandbox, the labels and
 * the specification given. The controller makes a Pod that is gone again, so the Sandbox is removed first.
 */
export class AgentSandboxes implements PodMaker {
  private constructor(
    private readonly cluster: Cluster,
    private readonly api: CustomObjectsApi,
    private readonly version: string,
  ) {}

  /** Rejects where the cluster does not have the API, or this user no right to use it. */
  static async open(cluster: Cluster): Promise<AgentSandboxes> {
    const { groups } = await apiClient(cluster.config, ApisApi).getAPIVersions();
    const served = groups.find(({ name }) => name === group)?.versions.map(({ version }) => version);
    if (!served)
      throw new UnusableClusterError(
        `the cluster has no ${group} API`,
        "install agent-sandbox (https://agent-sandbox.sigs.k8s.io) in the cluster, or leave --kubernetes-sandboxes out: the server then makes Pods itself",
      );
    const version = knownVersions.find((known) => served.includes(known));
    if (version === undefined)
      throw new UnusableClusterError(
        `the cluster has the ${group} API only in versions that this release does not know (${served.join(", ")}; it knows ${knownVersions.join(" and ")})`,
        "install a newer release of cloud-sandbox-local, or leave --kubernetes-sandboxes out: the server then makes Pods itself",
      );
    const api = apiClient(cluster.config, CustomObjectsApi);
    const sandboxes = new AgentSandboxes(cluster, api, version);
    await api.listNamespacedCustomObject({ ...sandboxes.#resource, limit: 1 });
    return sandboxes;
  }

  async create({ metadata, spec }: V1Pod, pods: PodWatch): Promise<void> {
    const { name = "", labels } = metadata ?? {};
    const body = {
      apiVersion: `${group}/${this.version}`,
      kind: "Sandbox",
      metadata: { name, labels },
      spec: { podTemplate: { metadata: { labels }, spec } },
    };
    await this.api.createNamespacedCustomObject({ ...this.#resource, body }).catch((error: unknown) => {
      throw new Error(`Kubernetes did not create the Sandbox: ${reasonOf(error)}`, { cause: error });
    });
    await this.#podMade(name, pods);
  }

  /** Only the controller may ask: this server has no right to make Pods. */
  async refusal(): Promise<undefined> {
    return undefined;
  }

  async remove(name: string): Promise<void> {
    await this.api
      .deleteNamespacedCustomObject({ ...this.#resource, name, propagationPolicy: "Background" })
      .catch((error: unknown) => {
        if (statusOf(error) !== 404)
          throw new Error(`Kubernetes did not delete the Sandbox: ${reasonOf(error)}`, { cause: error });
      });
    // The cluster's garbage collector removes the Pod too, but later.
    await removePod(this.cluster, name);
  }

  async orphans(): Promise<string[]> {
    // List the Sandboxes first: the Pod of each one may be made meanwhile.
    const { items } = await this.api
      .listNamespacedCustomObject({ ...this.#resource, labelSelector: ownSelector })
      .catch((error: unknown) => {
        throw new Error(`Kubernetes does not list Sandboxes: ${reasonOf(error)}`, { cause: error });
      });
    const pods = await ownPods(this.cluster);
    const withPod = new Set(pods.map(({ metadata }) => metadata?.name));
    const withoutPod = (items as AgentSandbox[]).filter(
      ({ metadata }) => !withPod.has(metadata?.name) && isOld(metadata),
    );
    return [...pods.filter(isOrphan), ...withoutPod].map(({ metadata }) => metadata?.name ?? "");
  }

  /** Pods that a server without Sandboxes has made are removed too. */
  objection(): undefined {
    return undefined;
  }

  get #resource() {
    return { group, plural, version: this.version, namespace: this.cluster.namespace };
  }

  /** Resolves when the controller has made the Pod. Rejects when it cannot or does not, with what it says. */
  async #podMade(name: string, pods: PodWatch): Promise<void> {
    const limit = AbortSignal.timeout(controllerLimitMs);
    const seen = new AbortController();
    const stop = pods.follow(name, () => seen.abort());
    try {
      for (;;) {
        await sleep(askMs, undefined, { signal: seen.signal, ref: false }).catch(() => undefined);
        if (seen.signal.aborted) return;
        const conditions = await this.#conditions(name);
        const failed = conditions?.find(
          ({ type, reason }) => type === "Ready" && reason === "ReconcilerError",
        );
        if (failed) throw new Error(`The controller of agent-sandbox cannot make the Pod: ${failed.message}`);
        if (limit.aborted) throw new Error(`${this.#notMade} ${told(conditions)}`);
      }
    } finally {
      stop();
    }
  }

  /** Returns the controller's message about a Sandbox. Undefined if the API server does not answer. */
  async #conditions(name: string): Promise<readonly Condition[] | undefined> {
    const sandbox: AgentSandbox | undefined = await this.api
      .getNamespacedCustomObject({ ...this.#resource, name })
      .catch((error: unknown) => {
        if (statusOf(error) === 404) throw new Error("The Sandbox was deleted before its Pod was made.");
        return undefined;
      });
    return sandbox && (sandbox.status?.conditions ?? []);
  }

  get #notMade(): string {
    return `No controller of agent-sandbox has made the Pod within ${controllerLimitMs / 1000} s. Check that it runs, and that it watches the namespace ${this.cluster.namespace}.`;
  }
}

function told(conditions: readonly Condition[] | undefined): string {
  if (!conditions) return "What it says of the Sandbox could not be read.";
  if (conditions.length === 0) return "The Sandbox has no conditions: no controller has seen it.";
  const words = conditions.map(
    ({ type, status, reason, message }) => `${type} is ${status} (${reason}${message ? `: ${message}` : ""})`,
  );
  return `The Sandbox's conditions: ${words.join("; ")}.`;
}
