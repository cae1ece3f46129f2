import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { V1Pod } from "@kubernetes/client-node";
import { agentMain } from "../bubblewrap/agent-files.js";
import { MachineChannel } from "../container/channel/machine-channel.js";
import { socketPair } from "../container/channel/socket-pair.js";
import { defaultImage, inside, opt } from "../container/paths.js";
import { InstanceDirectory } from "../host/instance-directory.js";
import { InstanceGuard } from "../host/instance-guard.js";
import { listenLocally } from "../host/local-socket.js";
import type { RuntimeOptions } from "../runtime-options.js";
import type {
  Machine,
  MachineImage,
  MachineSpec,
  RuntimeReport,
  SandboxRuntime,
} from "../sandbox-runtime.js";
import { type Cluster, openCluster, reasonOf } from "./cluster.js";
import { KubernetesMachine } from "./kubernetes-machine.js";
import { defaultAgentImage, probeCluster } from "./kubernetes-probe.js";
import { channelPort, loading, sandboxPod } from "./pod.js";
import { removeOrphans } from "./pod-owner.js";
import { endingOf, removePod, runningPod } from "./pod-states.js";
import { PodWatch } from "./pod-watch.js";
import { forwardPort } from "./port-forward.js";

/** How long a Pod may take until its agent answers, with the download of its image. */
const bootLimitMs = 120_000;
const againMs = 100;

/** The command of the sandbox's container. */
const supervisor = [
  ...loading,
  ...["--inspect-port=192.0.2.1:9777", `--openssl-config=${opt}/openssl.cnf`, `${opt}/supervisor.cjs`],
];

/** What all machines of this process share; made with the first machine. */
interface Foundation {
  readonly cluster: Cluster;
  readonly directory: InstanceDirectory;
  readonly guard: InstanceGuard;
  readonly pods: PodWatch;
}

/** Machines that are Pods of a Kubernetes cluster. */
export class KubernetesRuntime implements SandboxRuntime {
  readonly name = "kubernetes";
  readonly images: readonly MachineImage[];
  /** Names this process in the cluster. */
  readonly #server = randomBytes(8).toString("hex");
  #foundation: Promise<Foundation> | undefined;

  constructor(private readonly options: RuntimeOptions = {}) {
    this.images = (options.kubernetes?.images ?? [defaultImage]).map((name) => ({ name }));
  }

  async probe(): Promise<RuntimeReport> {
    return probeCluster(this.options);
  }

  /** Removes Pods that have ended, of any server. A Pod ends by itself when its server is gone. */
  async removeLeftovers(): Promise<void> {
    await InstanceDirectory.removeStale();
    const count = await removeOrphans(openCluster(this.options.kubernetes ?? {}));
    if (count > 0) this.options.log?.(`Pods of servers that have ended are removed: ${count}.`);
  }

  async prepare(): Promise<void> {
    await this.#laidFoundation();
  }

  async start(spec: MachineSpec): Promise<Machine> {
    const { layers = [], disk, files = [], keepIn } = spec;
    if (layers.length > 0 || disk !== undefined || files.length > 0 || keepIn !== undefined)
      throw new Error(
        "the kubernetes runtime starts sandboxes from its images alone: it neither builds templates nor starts built ones",
      );
    const { kubernetes = {} } = this.options;
    const image = spec.image ?? this.images[0]?.name ?? defaultImage;
    const { cluster, directory, pods } = await this.#laidFoundation();
    const name = `cloud-sandbox-${randomBytes(8).toString("hex")}`;
    const secret = randomBytes(32).toString("hex");
    const cleanups: (() => unknown)[] = [];
    const cleanUp = async (): Promise<void> => {
      for (const clean of cleanups.splice(0).reverse()) await clean();
    };
    const remove = (): Promise<void> => removePod(cluster, name);
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), bootLimitMs);
    try {
      const pod = sandboxPod({
        ...{ name, server: this.#server, image, limits: spec.limits, command: supervisor },
        agentImage: kubernetes.agentImage ?? defaultAgentImage,
        runtimeClass: kubernetes.runtimeClass?.name,
        secretHash: createHash("sha256").update(secret).digest("hex"),
      });
      await cluster.api
        .createNamespacedPod({ namespace: cluster.namespace, body: pod })
        .catch((error: unknown) => {
          throw new Error(`Kubernetes did not create the Pod: ${reasonOf(error)}`, { cause: error });
        });
      const running = await runningPod(pods, name, limit.signal);
      const carrier = await this.#reach(cluster, directory, running, limit.signal);
      cleanups.push(() => carrier.destroy());
      const channel = new MachineChannel(carrier.unref(), secret);
      cleanups.push(() => channel.close());
      const listen = async (path: string, onConnection: (connection: Socket) => void): Promise<void> => {
        const socket = await listenLocally(path, onConnection);
        cleanups.push(() => socket.close());
      };
      await listen(directory.socket(name), (connection) => channel.toAgent(connection));
      if (spec.egress) {
        await listen(directory.egressSocket(name), spec.egress);
        channel.carryEgress(directory.egressSocket(name));
      }
      await channel.assign({
        command: [...supervisor.slice(0, -1), `${opt}/agent/${agentMain}`],
        config: agentConfig(spec),
        agentSocket: inside.agentSocket,
        egressSocket: spec.egress && inside.egressSocket,
      });
      const machine = new KubernetesMachine({
        ...{ spec, channel, remove, cleanUp, isolation: kubernetes.runtimeClass?.level ?? "container" },
        socketPath: directory.socket(name),
        ending: () => endingOf(cluster, name),
      });
      await machine.booted(limit.signal);
      return machine;
    } catch (error) {
      await remove().catch(() => undefined);
      await cleanUp();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  async close(): Promise<void> {
    const foundation = await this.#foundation?.catch(() => undefined);
    this.#foundation = undefined;
    await foundation?.pods.close();
    await foundation?.directory.remove();
    await foundation?.guard.release();
  }

  /** A connection to the Pod's supervisor, which may not listen yet. */
  async #reach(
    cluster: Cluster,
    directory: InstanceDirectory,
    pod: V1Pod,
    signal: AbortSignal,
  ): Promise<Socket> {
    for (;;) {
      try {
        if (cluster.isInside) return await connected(pod.status?.podIP ?? "");
        const [near, far] = await socketPair(directory.socket(randomBytes(8).toString("hex")));
        far.unref().on("error", () => undefined);
        await forwardPort(cluster, pod.metadata?.name ?? "", channelPort, far);
        return near;
      } catch (error) {
        if (signal.aborted) throw error;
        await new Promise((resolve) => setTimeout(resolve, againMs));
      }
    }
  }

  /** Lays the foundation once. If that failed, the next call tries again. */
  #laidFoundation(): Promise<Foundation> {
    this.#foundation ??= this.#layFoundation().catch((error: unknown) => {
      this.#foundation = undefined;
      throw error;
    });
    return this.#foundation;
  }

  async #layFoundation(): Promise<Foundation> {
    const cluster = openCluster(this.options.kubernetes ?? {});
    await this.removeLeftovers();
    const pods = await PodWatch.open(cluster, this.#server);
    const directory = InstanceDirectory.plan();
    // Start the guard first: it removes the directory if this process is killed. The Pods end by themselves.
    const guard = new InstanceGuard(directory, []);
    await directory.make();
    return { cluster, directory, guard, pods };
  }
}

async function connected(host: string): Promise<Socket> {
  const socket = connect({ host, port: channelPort });
  await once(socket, "connect");
  return socket;
}

function agentConfig(spec: MachineSpec): string {
  return JSON.stringify({
    sandboxId: spec.id,
    publicKey: spec.publicKey,
    listen: { socket: inside.agentSocket },
    template: spec.template,
    limits: spec.limits,
    ...(spec.egress && { egress: { socket: inside.egressSocket, nodePreload: inside.nodePreload } }),
    environment: spec.environment ?? {},
    ownsMachine: true,
  });
}
