import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { V1Pod } from "@kubernetes/client-node";
import { agentMain } from "../bubblewrap/agent-files.js";
import { digestOf, waitForServerMs } from "../container/channel/channel-protocol.js";
import { MachineConnection } from "../container/channel/machine-connection.js";
import { socketPair } from "../container/channel/socket-pair.js";
import { defaultImage, inside, networkConfig, opt } from "../container/paths.js";
import { InstanceDirectory } from "../host/instance-directory.js";
import { InstanceGuard } from "../host/instance-guard.js";
import { type LocalSocket, listenLocally } from "../host/local-socket.js";
import { trustedIn } from "../host/system-bundle.js";
import type { RuntimeOptions } from "../runtime-options.js";
import type {
  Machine,
  MachineImage,
  MachineSpec,
  RuntimeReport,
  SandboxRuntime,
} from "../sandbox-runtime.js";
import { type Cluster, openCluster, reasonOf, UnusableClusterError } from "./cluster.js";
import { KubernetesMachine } from "./kubernetes-machine.js";
import { probeCluster } from "./kubernetes-probe.js";
import { NoCapacityForTrialError, requireClosedNetwork } from "./network-trial.js";
import { channelPort, loading, sandboxPod } from "./pod.js";
import { type PodMaker, podKind, refusalOf } from "./pod-maker.js";
import { openPodMaker } from "./pod-makers.js";
import { endingOf, isReady, livingPod, startedPod, startingPod } from "./pod-states.js";
import { PodWatch } from "./pod-watch.js";
import { forwardPort } from "./port-forward.js";

const defaultStartSeconds = 120;
/** How long it may take to reach the agent of a Pod that an earlier server started. */
const adoptionLimitMs = 20_000;
/** How long it may take if the cluster says that the Pod is not ready, as when its node is lost. */
const unreadyLimitMs = 5000;
/** The pause before the API server is asked again for a Pod. */
const askAgainMs = 500;
/** How often Pods of servers that were killed are looked for. */
const orphansMs = 15_000;

/** The command of the sandbox's container. */
const supervisor = [
  ...loading,
  ...["--inspect-port=192.0.2.1:9777", `--openssl-config=${opt}/openssl.cnf`, `${opt}/supervisor.cjs`],
];

/** State that all machines of this process share. It is made with the first machine. */
interface PreparedCluster {
  readonly cluster: Cluster;
  readonly maker: PodMaker;
  readonly directory: InstanceDirectory;
  readonly guard: InstanceGuard;
  readonly pods: PodWatch;
  readonly cleaning: NodeJS.Timeout;
}

const withoutMounts =
  "the kubernetes runtime cannot mount them in Pods; use the runtime bubblewrap or docker in a server that root started";

/** Machines that are Pods of a Kubernetes cluster. */
export class KubernetesRuntime implements SandboxRuntime {
  readonly name = "kubernetes";
  readonly withoutLayers =
    "the kubernetes runtime starts sandboxes from images that the cluster can pull; push one to its registry, and start the server with --kubernetes-image and its name";
  readonly withoutPause = "Kubernetes cannot freeze a Pod";
  readonly withoutVolumes = withoutMounts;
  readonly withoutDirectories = withoutMounts;
  readonly withoutCopies = withoutMounts;
  readonly images: readonly MachineImage[];
  /** Names this process in the cluster. */
  readonly #server = randomBytes(8).toString("hex");
  #cluster: Promise<PreparedCluster> | undefined;
  /** Whether {@link probe} has tried the network, if that is wanted. */
  #isNetworkTried = true;
  /** The trial that was postponed, while it is made. */
  #networkTrial: Promise<void> | undefined;
  readonly #closed = new AbortController();
  /** Pods that had ended when they were last looked for. */
  #orphans: ReadonlySet<string> = new Set();

  constructor(private readonly options: RuntimeOptions = {}) {
    this.images = (options.kubernetes?.images ?? [defaultImage]).map((name) => ({ name }));
  }

  async probe(): Promise<RuntimeReport> {
    return probeCluster(this.options, (reason) => {
      this.#isNetworkTried = false;
      this.options.log?.(`On Kubernetes, ${reason}.`);
    });
  }

  /** Removes Pods that have ended, of any server, and those that end later. A Pod ends by itself when its server stays away. */
  async removeLeftovers(): Promise<void> {
    await this.#getCluster();
  }

  async prepare(): Promise<void> {
    await this.#getCluster();
  }

  async refusalOfPriorityClass(priorityClassName: string): Promise<string | undefined> {
    if (priorityClassName.startsWith("system-"))
      return "classes whose names begin with system- are for the cluster's own Pods, to which all others give way";
    const prepared = await this.#getCluster().catch(() => undefined);
    if (!prepared) return undefined;
    const kind = { ...podKind(this.options.kubernetes ?? {}, "base"), placement: { priorityClassName } };
    const refusal = await refusalOf(prepared.maker, kind);
    // Whatever else the cluster does not like is not a matter of the class.
    return refusal?.includes("PriorityClass") ? refusal : undefined;
  }

  async start(spec: MachineSpec): Promise<Machine> {
    const { layers = [], disk, files = [], keepIn } = spec;
    if (layers.length > 0 || disk !== undefined || files.length > 0 || keepIn !== undefined)
      throw new Error(this.withoutLayers);
    this.#requireMayAct();
    const { kubernetes = {} } = this.options;
    const kind = podKind(kubernetes, spec.template, spec.image);
    const { cluster, maker, pods } = await this.#getCluster();
    if (!this.#isNetworkTried) await this.#tryNetwork(cluster, maker);
    const secret = spec.secret ?? randomBytes(32).toString("hex");
    const name = podName(secret);
    const limit = new AbortController();
    const startMs = (kubernetes.startTimeoutSeconds ?? defaultStartSeconds) * 1000;
    const timer = setTimeout(() => limit.abort(), startMs);
    try {
      const pod = sandboxPod({
        ...kind,
        name,
        server: this.#server,
        limits: spec.limits,
        command: supervisor,
        placement: {
          ...kind.placement,
          ...(spec.priorityClass !== undefined && { priorityClassName: spec.priorityClass }),
        },
        secretHash: digestOf(secret),
        waitMs: waitForServerMs,
      });
      await maker.create(pod, pods);
      const starting = await startingPod(pods, name, limit.signal);
      const started = startedPod(pods, name, limit.signal);
      let isStarting = true;
      const settle = (): void => {
        isStarting = false;
      };
      started.then(settle, settle);
      const machine = await this.#connected(spec, secret, starting, startMs, {
        isStarting: () => isStarting,
      });
      try {
        await Promise.race([boot(machine, spec, this.options, limit.signal), failureOf(started)]);
      } catch (error) {
        // If the Pod could not start, the cluster says best why.
        const reason = await started.then(
          () => error,
          (failure: unknown) => failure,
        );
        await machine.destroy();
        throw reason;
      }
      return machine;
    } catch (error) {
      await maker.remove(name).catch(() => undefined);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  async adopt(spec: MachineSpec): Promise<Machine | undefined> {
    if (spec.secret === undefined) return undefined;
    const { cluster, maker } = await this.#getCluster();
    const limit = AbortSignal.timeout(adoptionLimitMs);
    const pod = await this.#found(cluster, podName(spec.secret), limit);
    if (!pod) return undefined;
    const objection = maker.objection(pod);
    if (objection !== undefined) throw new Error(objection);
    const reachingMs = isReady(pod) ? adoptionLimitMs : unreadyLimitMs;
    const machine = await this.#connected(spec, spec.secret, pod, reachingMs, { isAdopted: true });
    await machine.booted(AbortSignal.timeout(reachingMs)).catch(async (error: unknown) => {
      await machine.destroy();
      throw error;
    });
    return machine;
  }

  async close(): Promise<void> {
    const prepared = await this.#cluster?.catch(() => undefined);
    this.#cluster = undefined;
    this.#closed.abort();
    await this.#networkTrial?.catch(() => undefined);
    clearInterval(prepared?.cleaning);
    await prepared?.pods.close();
    await prepared?.guard.release();
  }

  /** Makes the trial that {@link probe} had no room for: once for all machines that wait for it. */
  #tryNetwork(cluster: Cluster, maker: PodMaker): Promise<void> {
    const kind = podKind(this.options.kubernetes ?? {}, "base");
    this.#networkTrial ??= requireClosedNetwork({ cluster, maker, kind, signal: this.#closed.signal })
      .then(() => {
        this.#isNetworkTried = true;
      })
      .catch((error: unknown) => {
        if (error instanceof UnusableClusterError) throw new Error(`${error.message}; ${error.fix}`);
        const what =
          error instanceof NoCapacityForTrialError
            ? "there is no room to try the network"
            : "the network cannot be tried";
        throw new Error(`${what}: ${reasonOf(error)}`, { cause: error });
      })
      .finally(() => {
        this.#networkTrial = undefined;
      });
    return this.#networkTrial;
  }

  /** Removes Pods that had ended the last time already: the server of one that ends now still asks why. */
  async #removeOrphans(maker: PodMaker): Promise<void> {
    const found = await maker.orphans();
    const before = this.#orphans;
    this.#orphans = new Set(found);
    await this.#remove(
      maker,
      found.filter((name) => before.has(name)),
    );
  }

  async #remove(maker: PodMaker, names: readonly string[]): Promise<void> {
    await Promise.all(names.map((name) => maker.remove(name).catch(() => undefined)));
    if (names.length > 0) this.options.log?.(`Pods of servers that have ended are removed: ${names.length}.`);
  }

  get #mayAct(): boolean {
    return this.options.mayAct?.() ?? true;
  }

  #requireMayAct(): void {
    if (!this.#mayAct)
      throw new Error("the API server does not answer, or another server has just begun to lead");
  }

  /** A Pod whose sandbox runs. Asks again when the API server does not answer, because the Pod is lost if it is not found. */
  async #found(cluster: Cluster, name: string, limit: AbortSignal): Promise<V1Pod | undefined> {
    for (;;) {
      try {
        return await livingPod(cluster, name);
      } catch (error) {
        if (limit.aborted) throw error;
        await sleep(askAgainMs, undefined, { ref: false });
      }
    }
  }

  /** The machine in a Pod that runs. Its connection may not be made yet. */
  async #connected(
    spec: MachineSpec,
    secret: string,
    pod: V1Pod,
    limitMs: number,
    { isAdopted = false, isStarting = () => false },
  ): Promise<KubernetesMachine> {
    const { cluster, maker, directory } = await this.#getCluster();
    const name = pod.metadata?.name ?? "";
    const sockets: LocalSocket[] = [];
    const listen = async (path: string, onConnection: (connection: Socket) => void): Promise<void> =>
      void sockets.push(await listenLocally(path, onConnection));
    if (spec.egress) await listen(directory.egressSocket(name), spec.egress);
    const connection = new MachineConnection(
      {
        reach: async (signal) => {
          this.#requireMayAct();
          return reach(cluster, directory, pod, signal);
        },
        // The watch tells what becomes of a Pod that starts. A controller may have made another Pod of the same name.
        hasEnded: async () =>
          !isStarting() && (await livingPod(cluster, name))?.metadata?.uid !== pod.metadata?.uid,
        egressSocket: spec.egress && directory.egressSocket(name),
        isFrozen: () => false,
        isAdopted,
        secret,
        reasonOf,
        waitMs: waitForServerMs,
      },
      limitMs,
    );
    await listen(directory.socket(name), (caller) => connection.toAgent(caller));
    return new KubernetesMachine({
      spec,
      connection,
      isolation: this.options.kubernetes?.runtimeClass?.level ?? "container",
      socketPath: directory.socket(name),
      keepsFiles: !this.options.kubernetes?.records,
      ending: () => endingOf(cluster, name),
      // A Pod that is not removed here has another server, or ends by itself.
      remove: async () => (this.#mayAct ? maker.remove(name) : undefined),
      cleanUp: () => {
        for (const socket of sockets) socket.close();
      },
    });
  }

  /** Prepares the cluster once. If that failed, the next call tries again. */
  #getCluster(): Promise<PreparedCluster> {
    this.#cluster ??= this.#prepareCluster().catch((error: unknown) => {
      this.#cluster = undefined;
      throw error;
    });
    return this.#cluster;
  }

  async #prepareCluster(): Promise<PreparedCluster> {
    const cluster = openCluster(this.options.kubernetes ?? {});
    await InstanceDirectory.removeStale();
    const maker = await openPodMaker(cluster, this.options.kubernetes ?? {});
    await this.#remove(maker, await maker.orphans());
    const pods = await PodWatch.open(cluster, this.#server);
    const directory = InstanceDirectory.plan();
    // Start the guard first: it removes the directory if this process is killed. The Pods end by themselves.
    const guard = new InstanceGuard(directory, []);
    directory.make();
    const cleaning = setInterval(
      () => void this.#removeOrphans(maker).catch(() => undefined),
      orphansMs,
    ).unref();
    return { cluster, maker, directory, guard, pods, cleaning };
  }
}

/** Starts the agent in a Pod that starts or runs. */
async function boot(
  machine: KubernetesMachine,
  spec: MachineSpec,
  { authorities, homeFiles }: RuntimeOptions,
  signal: AbortSignal,
): Promise<void> {
  await machine.assign({
    command: [...supervisor.slice(0, -1), `${opt}/agent/${agentMain}`],
    config: agentConfig(spec),
    agentSocket: inside.agentSocket,
    egressSocket: spec.egress && inside.egressSocket,
    authorities: spec.egress && trustedIn(spec, authorities),
    homeFiles,
  });
  await machine.booted(signal);
}

/** Rejects as `work` does. If it resolves, stays pending. */
async function failureOf(work: Promise<unknown>): Promise<never> {
  await work;
  return new Promise(() => undefined);
}

/** Connects to the supervisor of a Pod: directly, or through the API server. */
async function reach(
  cluster: Cluster,
  directory: InstanceDirectory,
  pod: V1Pod,
  signal: AbortSignal,
): Promise<Socket> {
  if (cluster.isInside) {
    const socket = connect({ host: pod.status?.podIP ?? "", port: channelPort });
    await once(socket, "connect", { signal }).catch((error: unknown) => {
      socket.destroy();
      throw error;
    });
    return socket;
  }
  const [near, far] = await socketPair(directory.socket(randomBytes(8).toString("hex")));
  far.unref().on("error", () => undefined);
  try {
    await forwardPort(cluster, pod.metadata?.name ?? "", channelPort, far, signal);
  } catch (error) {
    near.destroy();
    far.destroy();
    throw error;
  }
  return near;
}

/** The name of a machine's Pod: whoever has the secret finds it, and nobody finds the secret by it. */
const podName = (secret: string): string => `cloud-sandbox-${digestOf(`name ${secret}`).slice(0, 16)}`;

function agentConfig(spec: MachineSpec): string {
  return JSON.stringify({
    sandboxId: spec.id,
    publicKey: spec.publicKey,
    listen: { socket: inside.agentSocket },
    template: spec.template,
    limits: spec.limits,
    ...(spec.egress && networkConfig),
    homeFiles: inside.homeFiles,
    environment: spec.environment ?? {},
    ownsMachine: true,
  });
}
