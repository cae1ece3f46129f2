import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import { PassThrough } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type Docker from "dockerode";
import { digestOf, waitForServerMs } from "../container/channel/channel-protocol.js";
import { MachineConnection } from "../container/channel/machine-connection.js";
import { defaultImage, inside } from "../container/paths.js";
import { InstanceDirectory } from "../host/instance-directory.js";
import { InstanceGuard } from "../host/instance-guard.js";
import { KernelWatch } from "../host/kernel-watch.js";
import { type LocalSocket, listenLocally } from "../host/local-socket.js";
import { trustedIn } from "../host/system-bundle.js";
import type { RuntimeOptions } from "../runtime-options.js";
import type {
  ImageContents,
  Machine,
  MachineSpec,
  RuntimeReport,
  SandboxRuntime,
} from "../sandbox-runtime.js";
import { agentConfig, isOfGvisor } from "./agent-config.js";
import { mountIn } from "./container-mounts.js";
import { containerOptions, type DaemonAbilities, variableOf, writesToHost } from "./container-options.js";
import { DockerMachine, type Freezing, hasEnded } from "./docker-machine.js";
import { probeDocker } from "./docker-probe.js";
import { AgentSocket } from "./engine/agent-socket.js";
import { endStart, removeContainer } from "./engine/container-owner.js";
import { attachedTo, bridgedTo, type StreamEnds } from "./engine/container-streams.js";
import {
  type DockerFailure,
  fromDaemon,
  hasImage,
  isMissing,
  openDocker,
  reasonOf,
} from "./engine/docker-engine.js";
import { OwnContainers } from "./engine/own-containers.js";
import { type PreparedImage, preparedImage, recalledContents } from "./image/prepared-image.js";

const bootLimitMs = 60_000;
/** How long it may take to reach the agent of a container that an earlier server started. */
const adoptionLimitMs = 20_000;
const againMs = 250;
const keptErrorOutput = 4096;

/** State that all machines of this process share. It is made with the first machine. */
interface PreparedEngine {
  readonly docker: Docker;
  readonly directory: InstanceDirectory;
  readonly guard: InstanceGuard;
  readonly daemon: DaemonAbilities;
  readonly kernel: KernelWatch | undefined;
}

/** A container whose supervisor runs, or is about to. */
interface RunningContainer {
  readonly container: Docker.Container;
  readonly name: string;
  /** The standard streams of a new container. */
  readonly carrier?: Socket;
  readonly secret: string;
  readonly errorOutput: () => string;
  readonly ends: () => StreamEnds;
  readonly isFrozen: boolean;
  /** How long it may take to reach it. */
  readonly limitMs: number;
}

/** An image that machines are started from. */
interface RuntimeImage {
  readonly name: string;
  prepared: Promise<PreparedImage> | undefined;
  contents: ImageContents | undefined;
}

/** Machines that are containers of a Docker daemon, on this machine or on another one. */
export class DockerRuntime implements SandboxRuntime {
  readonly name = "docker";
  readonly withoutLayers =
    'the docker runtime starts sandboxes from images of its daemon; make one with "docker build", and start the server with --docker-image and its name';
  /** For volumes and for directories of this machine. Known once it was probed. */
  #withoutMounts: string | undefined;
  #engine: Promise<PreparedEngine> | undefined;
  readonly images: readonly RuntimeImage[];
  readonly #containers: OwnContainers;

  constructor(private readonly options: RuntimeOptions = {}) {
    this.images = (options.dockerImages ?? [defaultImage]).map((name) => ({
      name,
      prepared: undefined,
      contents: undefined,
    }));
    this.#containers = new OwnContainers(() => openDocker(false), options.log ?? (() => undefined));
  }

  get withoutVolumes(): string | undefined {
    return this.#withoutMounts;
  }

  readonly withoutCopies = "its containers write to directories themselves; bubblewrap can copy them";

  get withoutDirectories(): string | undefined {
    return this.#withoutMounts;
  }

  async probe(): Promise<RuntimeReport> {
    const { report } = await this.#probed();
    if (report.usable) await this.#recall();
    return report;
  }

  async removeLeftovers(owner?: string): Promise<void> {
    this.#containers.owner ??= owner;
    await InstanceDirectory.removeStale();
    await this.#containers.sweep();
  }

  async prepare(): Promise<void> {
    await this.#preparedImage(await this.#getEngine(), this.#imageNamed(undefined));
  }

  async start(spec: MachineSpec): Promise<Machine> {
    const { layers = [], disk, files = [], keepIn, mounts = [] } = spec;
    if (layers.length > 0 || disk !== undefined || files.length > 0 || keepIn !== undefined)
      throw new Error(this.withoutLayers);
    const wanted = this.#imageNamed(spec.image);
    const engine = await this.#getEngine();
    if (writesToHost(mounts) && !engine.daemon.filtersCalls)
      throw new Error(
        "without a system call filter, directories of this machine can only be mounted read-only",
      );
    return this.#startFrom(spec, engine, wanted).catch((error: DockerFailure) => {
      if (!isMissing(error)) throw error;
      // Somebody has removed the prepared image since: prepare it again.
      wanted.prepared = undefined;
      return this.#startFrom(spec, engine, wanted);
    });
  }

  async #startFrom(spec: MachineSpec, engine: PreparedEngine, wanted: RuntimeImage): Promise<Machine> {
    const { docker, daemon } = engine;
    const image = await this.#preparedImage(engine, wanted);
    const secret = spec.secret ?? randomBytes(32).toString("hex");
    // A random name, not the sandbox's id: every user of the daemon can read the names of containers, and anyone who knows
    // the id can open the sandbox's previews.
    const name = `cloud-sandbox-${randomBytes(8).toString("hex")}`;
    const listening = { at: inside.channelSocket, hash: digestOf(secret), waitMs: this.#waitMs(spec) };
    const { mounts = [] } = spec;
    this.#containers.use(name);
    let container: Docker.Container | undefined;
    try {
      container = await fromDaemon(
        docker.createContainer(
          containerOptions({
            name,
            image,
            command: isOfGvisor(daemon) ? image.commands.machineOfGvisor : image.commands.machine,
            limits: spec.limits,
            daemon,
            labels: this.#containers.labelsOf(secret, spec.owner),
            listening,
            mounts,
          }),
        ),
      );
      const { errorOutput, ends } = this.#errorsOf(engine);
      const carrier = await attachedTo(docker, container, ends());
      await fromDaemon(container.start()).catch((error: unknown) => {
        carrier.destroy();
        throw error;
      });
      const machine = await this.#connected(spec, engine, {
        container,
        name,
        carrier,
        secret,
        errorOutput,
        ends,
        isFrozen: false,
        limitMs: bootLimitMs,
      });
      const mounted =
        mounts.length > 0
          ? machine.reached().then(() => mountIn(docker.getContainer(name), variableOf(listening), mounts))
          : Promise.resolve();
      const assignment = {
        command: image.commands.agent,
        config: agentConfig(spec, image, daemon),
        agentSocket: inside.agentSocket,
        egressSocket: spec.egress && inside.egressSocket,
        authorities: spec.egress && trustedIn(spec, this.options.authorities),
        homeFiles: this.options.homeFiles,
      };
      await mounted
        .then(() => machine.assign(assignment))
        .catch(async (error: unknown) => {
          // If the machine has ended, it tells why.
          if (!(await hasEnded(docker.getContainer(name)).catch(() => true))) throw error;
        });
      await machine.booted(bootLimitMs);
      return machine;
    } catch (error) {
      if (container) {
        await endStart(container.id);
        await removeContainer(docker, container.id).catch(() => undefined);
      }
      this.#containers.release(name);
      throw error;
    }
  }

  async adopt(spec: MachineSpec): Promise<Machine | undefined> {
    const { secret } = spec;
    if (secret === undefined || spec.owner === undefined) return undefined;
    const engine = await this.#getEngine();
    const { docker } = engine;
    const found = await this.#whileDaemonIsAway(() => this.#containers.find(docker, secret));
    if (!found) return undefined;
    const name = found.Names[0]?.slice(1) ?? "";
    this.#containers.use(name);
    const machine = await this.#connected(spec, engine, {
      container: docker.getContainer(found.Id),
      name,
      secret,
      ...this.#errorsOf(engine),
      isFrozen: found.State === "paused",
      limitMs: adoptionLimitMs,
    });
    if (!machine.isPaused) await machine.booted(adoptionLimitMs);
    return machine;
  }

  async close(): Promise<void> {
    await this.#containers.close();
    const engine = await this.#engine?.catch(() => undefined);
    this.#engine = undefined;
    engine?.kernel?.close();
    await engine?.guard.release();
  }

  /** The machine in a container that runs. Its connection may not be made yet. */
  async #connected(
    spec: MachineSpec,
    { docker, directory, daemon, kernel }: PreparedEngine,
    { container, name, secret, errorOutput, ends, ...found }: RunningContainer,
  ): Promise<DockerMachine> {
    const sockets: LocalSocket[] = [];
    const listen = async (path: string, onConnection: (connection: Socket) => void): Promise<void> =>
      void sockets.push(await listenLocally(path, onConnection));
    const file = name.replace("cloud-sandbox-", "");
    if (spec.egress) await listen(directory.egressSocket(file), spec.egress);
    const freezing: Freezing = { isFrozen: found.isFrozen };
    let { carrier } = found;
    const connection = new MachineConnection(
      {
        reach: async (signal) => {
          const first = carrier;
          carrier = undefined;
          return first ?? bridgedTo(docker, container, ends(), signal);
        },
        hasEnded: () => hasEnded(container),
        isFrozen: () => freezing.isFrozen,
        egressSocket: spec.egress && directory.egressSocket(file),
        secret,
        reasonOf,
        waitMs: this.#waitMs(spec),
      },
      found.limitMs,
    );
    const agent = new AgentSocket(container, !isOfGvisor(daemon));
    await listen(directory.socket(file), (caller) => agent.join(caller, () => connection.toAgent(caller)));
    return new DockerMachine({
      docker,
      container,
      connection,
      spec,
      freezing,
      kernel,
      errorOutput,
      isolation: daemon.isolation,
      socketPath: directory.socket(file),
      cleanUp: (isLeft) => {
        for (const socket of sockets) socket.close();
        void agent.close();
        if (!isLeft) this.#containers.release(name);
      },
    });
  }

  /**
   * Returns a stream for each connection to a container, to which its programs' errors go, and a function that returns
   * the last of them.
   */
  #errorsOf({ directory }: PreparedEngine): { errorOutput: () => string; ends: () => StreamEnds } {
    let errorOutput = "";
    const ends = (): StreamEnds => {
      const errors = new PassThrough();
      errors.setEncoding("utf8").on("data", (chunk: string) => {
        errorOutput = (errorOutput + chunk).slice(-keptErrorOutput);
      });
      return { path: directory.socket(randomBytes(8).toString("hex")), errors };
    };
    return { errorOutput: () => errorOutput.trim(), ends };
  }

  /** Milliseconds that a container waits for its server. Without a data directory no other server can come. */
  #waitMs({ owner }: MachineSpec): number {
    return owner === undefined ? 0 : waitForServerMs;
  }

  /** Asks again while the daemon does not answer: it may have been killed, as the last server was. */
  async #whileDaemonIsAway<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    const limit = AbortSignal.timeout(adoptionLimitMs);
    for (;;)
      try {
        return await ask();
      } catch (error) {
        if ((error as DockerFailure).statusCode !== undefined || limit.aborted) throw error;
        await sleep(againMs);
      }
  }

  async #probed(): ReturnType<typeof probeDocker> {
    const probed = await probeDocker(this.images, this.options);
    this.#withoutMounts = probed.daemon.withoutMounts;
    return probed;
  }

  /** The image of that name, or the default one. A sandbox that was stopped may have been of another server's image. */
  #imageNamed(name: string | undefined): RuntimeImage {
    const found = name === undefined ? this.images[0] : this.images.find((image) => image.name === name);
    if (found) return found;
    throw new Error(`the image ${name} is none of this server's: start it with --docker-image ${name}`);
  }

  /** Finds out what earlier servers found in the images. */
  async #recall(): Promise<void> {
    const docker = openDocker(this.options.holdsProcess);
    await Promise.all(
      this.images.map(async (image) => {
        image.contents ??= await recalledContents(docker, image.name).catch(() => undefined);
      }),
    );
  }

  /** Prepares the engine once. If that failed, the next call tries again. */
  #getEngine(): Promise<PreparedEngine> {
    this.#engine ??= this.#prepareEngine().catch((error: unknown) => {
      this.#engine = undefined;
      throw error;
    });
    return this.#engine;
  }

  async #prepareEngine(): Promise<PreparedEngine> {
    const { report, daemon } = await this.#probed();
    if (!report.usable) throw new Error(`${report.reason}; ${report.fix}`);
    await this.removeLeftovers();
    const docker = openDocker(this.options.holdsProcess);
    const directory = InstanceDirectory.plan();
    // Start the guard first: it removes the directory if this process is killed. The containers wait for the next one, or end.
    const guard = new InstanceGuard(directory, []);
    directory.make();
    // A daemon in whose containers directories of this machine can be mounted has its processes on this machine.
    const kernel = daemon.withoutMounts === undefined ? new KernelWatch() : undefined;
    return { docker, directory, guard, daemon, kernel };
  }

  /** Prepares an image once. If that failed, the next call tries again. */
  #preparedImage(engine: PreparedEngine, image: RuntimeImage): Promise<PreparedImage> {
    image.prepared ??= this.#prepareImage(engine, image).catch((error: unknown) => {
      image.prepared = undefined;
      throw error;
    });
    return image.prepared;
  }

  async #prepareImage({ docker, daemon }: PreparedEngine, image: RuntimeImage): Promise<PreparedImage> {
    await this.#fetchImage(docker, image.name);
    const prepared = await preparedImage(docker, image.name, daemon, this.options.log ?? (() => undefined));
    image.contents = prepared.contents;
    return prepared;
  }

  /** Downloads the image if the daemon does not have it. */
  async #fetchImage(docker: Docker, name: string): Promise<void> {
    if (await hasImage(docker, name)) return;
    this.options.log?.(`Docker downloads the image ${name}.`);
    try {
      const progress = await docker.pull(name);
      await new Promise<void>((resolve, reject) => {
        docker.modem.followProgress(progress, (error) => (error ? reject(error) : resolve()));
      });
    } catch (error) {
      throw new Error(
        `Docker does not have the image ${name} and could not download it (${reasonOf(error)}); load it with "docker pull" or "docker load", or name another with --docker-image or CLOUD_SANDBOX_DOCKER_IMAGE`,
        { cause: error },
      );
    }
  }
}
