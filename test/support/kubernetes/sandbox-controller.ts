import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import {
  ApiException,
  CoreV1Api,
  CustomObjectsApi,
  type Informer,
  KubeConfig,
  type KubernetesListObject,
  type KubernetesObject,
  makeInformer,
  type ObjectCache,
  PatchStrategy,
  setHeaderOptions,
  type V1Pod,
  type V1PodSpec,
  type V1Status,
} from "@kubernetes/client-node";
import { ownCluster } from "./kubernetes-server.js";

const namespace = "cloud-sandbox";
const group = "agents.x-k8s.io";
const nameHashLabel = `${group}/sandbox-name-hash`;
/** The pauses before a Sandbox is tried again that went wrong. They double from the first to the longest. */
const [firstPauseMs, longestPauseMs] = [5, 10_000];

interface Sandbox extends KubernetesObject {
  readonly spec: {
    readonly podTemplate: {
      readonly metadata?: {
        readonly labels?: Record<string, string>;
        readonly annotations?: Record<string, string>;
      };
      readonly spec: V1PodSpec;
    };
  };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

interface Condition {
  readonly type: "Ready" | "Finished";
  readonly status: "True" | "False";
  readonly reason: string;
  readonly message: string;
}

type Watched<Type extends KubernetesObject> = Informer<Type> & ObjectCache<Type>;

/**
 * Stands in for the controller of agent-sandbox, and does with Sandboxes what that one is documented to do: each gets a Pod of its
 * name, again if it is gone, and conditions. What a deleted Sandbox leaves is the garbage collector's. Nothing is expired,
 * suspended, or claimed, and no Service or volume is made, because servers do not ask for that.
 */
export class SandboxController {
  readonly #pods: Watched<V1Pod>;
  readonly #sandboxes: Watched<Sandbox>;
  readonly #core: CoreV1Api;
  readonly #objects: CustomObjectsApi;
  /** The Sandboxes that are looked at now, and whether they have changed meanwhile. */
  readonly #busy = new Map<string, { again: boolean }>();
  #isStopped = false;

  private constructor(private readonly version: string) {
    const config = new KubeConfig();
    config.loadFromFile(ownCluster().admin);
    this.#core = config.makeApiClient(CoreV1Api);
    this.#objects = config.makeApiClient(CustomObjectsApi);
    const pods = `/api/v1/namespaces/${namespace}/pods`;
    this.#pods = makeInformer(config, pods, () => this.#core.listNamespacedPod({ namespace }));
    const sandboxes = `/apis/${group}/${version}/namespaces/${namespace}/sandboxes`;
    const list = (): Promise<KubernetesListObject<Sandbox>> =>
      this.#objects.listNamespacedCustomObject(this.#place);
    this.#sandboxes = makeInformer(config, sandboxes, list);
    for (const watched of [this.#pods, this.#sandboxes]) this.#follow(watched);
  }

  static async start(version: "v1beta1" | "v1alpha1"): Promise<SandboxController> {
    const controller = new SandboxController(version);
    await controller.#pods.start();
    await controller.#sandboxes.start();
    return controller;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#pods.stop();
    await this.#sandboxes.stop();
  }

  get #place() {
    return { group, version: this.version, namespace, plural: "sandboxes" };
  }

  #follow(watched: Watched<KubernetesObject>): void {
    watched.on("change", ({ metadata }) => this.#look(metadata?.name ?? ""));
    watched.on("error", () => void this.#startLater(watched));
  }

  async #startLater(watched: Watched<KubernetesObject>): Promise<void> {
    await sleep(100);
    if (!this.#isStopped) await watched.start();
  }

  #look(name: string): void {
    const busy = this.#busy.get(name);
    if (busy) busy.again = true;
    else void this.#mend(name);
  }

  async #mend(name: string): Promise<void> {
    const busy = { again: true };
    this.#busy.set(name, busy);
    for (let pause = firstPauseMs; busy.again && !this.#isStopped; ) {
      // The two watches are not in step: let one tell of a Sandbox that was deleted just before its Pod.
      await nextTurn();
      busy.again = false;
      try {
        await this.#reconcile(name);
      } catch {
        await sleep(pause);
        pause = Math.min(2 * pause, longestPauseMs);
        busy.again = true;
      }
    }
    this.#busy.delete(name);
  }

  async #reconcile(name: string): Promise<void> {
    const sandbox = this.#sandboxes.get(name, namespace);
    if (!sandbox || sandbox.metadata?.deletionTimestamp) return;
    try {
      const pod = this.#pods.get(name, namespace) ?? (await this.#make(name, sandbox));
      const owner = pod.metadata?.ownerReferences?.find(({ controller }) => controller);
      if (owner?.uid !== sandbox.metadata?.uid)
        throw new Error(
          `pod "${name}" is owned by ${owner?.kind}/${owner?.name} (UID: ${owner?.uid}), not by sandbox "${name}"`,
        );
      await this.#tell(name, sandbox, conditionsOf(pod), pod);
    } catch (error) {
      const reason = messageOf(error);
      const failed: Condition = {
        type: "Ready",
        status: "False",
        reason: "ReconcilerError",
        message: reason,
      };
      await this.#tell(name, sandbox, [{ ...failed, message: `Error seen: ${reason}` }]);
      throw error;
    }
  }

  #make(name: string, { metadata, spec: { podTemplate } }: Sandbox): Promise<V1Pod> {
    const { labels = {}, annotations = {} } = podTemplate.metadata ?? {};
    const foreign = Object.fromEntries(
      Object.entries(labels).filter(([key]) => !key.startsWith(`${group}/`)),
    );
    const body: V1Pod = {
      metadata: {
        name,
        labels: { ...foreign, [nameHashLabel]: nameHash(name) },
        annotations: {
          ...annotations,
          [`${group}/propagated-labels`]: Object.keys(foreign).sort().join(","),
        },
        ownerReferences: [
          {
            ...{ apiVersion: `${group}/${this.version}`, kind: "Sandbox", name, uid: metadata?.uid ?? "" },
            ...{ controller: true, blockOwnerDeletion: true },
          },
        ],
      },
      spec: podTemplate.spec,
    };
    return this.#core.createNamespacedPod({ namespace, body }).catch((error: unknown) => {
      if (error instanceof ApiException && statusIn(error).reason === "AlreadyExists")
        return this.#core.readNamespacedPod({ namespace, name });
      throw error;
    });
  }

  async #tell(
    name: string,
    { metadata, status }: Sandbox,
    conditions: readonly Condition[],
    pod?: V1Pod,
  ): Promise<void> {
    const words = (
      all: readonly { type: string; status: string; reason?: string; message?: string }[] = [],
    ) => JSON.stringify(all.map(({ type, status, reason, message }) => [type, status, reason, message]));
    if (words(status?.conditions) === words(conditions)) return;
    const now = new Date().toISOString();
    const body = {
      status: {
        conditions: conditions.map((condition) => ({
          ...{ ...condition, lastTransitionTime: now, observedGeneration: metadata?.generation },
        })),
        ...(pod && { selector: `${nameHashLabel}=${nameHash(name)}` }),
        ...(pod && { podIPs: (pod.status?.podIPs ?? []).map(({ ip }) => ip), nodeName: pod.spec?.nodeName }),
      },
    };
    await this.#objects
      .patchNamespacedCustomObjectStatus(
        { ...this.#place, name, body },
        setHeaderOptions("Content-Type", PatchStrategy.MergePatch),
      )
      .catch((error: unknown) => {
        if (!(error instanceof ApiException && error.code === 404)) throw error;
      });
  }
}

function conditionsOf({ status }: V1Pod): readonly Condition[] {
  const { phase, conditions } = status ?? {};
  if (phase === "Succeeded" || phase === "Failed") {
    const end = {
      reason: `Pod${phase}`,
      message: phase === "Failed" ? "Pod failed" : "Pod completed successfully",
    };
    return [
      { type: "Finished", status: "True", ...end },
      { type: "Ready", status: "False", ...end },
    ];
  }
  const isReady = conditions?.some((condition) => condition.type === "Ready" && condition.status === "True");
  if (isReady)
    return [{ type: "Ready", status: "True", reason: "DependenciesReady", message: "Pod is Ready" }];
  const message = phase === "Running" ? "Pod is Running but not Ready" : `Pod exists with phase: ${phase}`;
  return [{ type: "Ready", status: "False", reason: "DependenciesNotReady", message }];
}

/** FNV-1a of 32 bits, in hexadecimal: the value of the label by which the controller finds a Sandbox's Pod. */
function nameHash(name: string): string {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(name)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash.toString(16).padStart(8, "0");
}

const messageOf = (error: unknown): string =>
  error instanceof ApiException ? (statusIn(error).message ?? String(error.code)) : String(error);

function statusIn({ body }: ApiException<unknown>): V1Status {
  return typeof body === "string" ? (JSON.parse(body) as V1Status) : (body as V1Status);
}
