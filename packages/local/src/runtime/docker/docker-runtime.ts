import { randomBytes } from "node:crypto";
import { type Duplex, PassThrough } from "node:stream";
import type Docker from "dockerode";
import { MachineChannel } from "../container/channel/machine-channel.js";
import { socketPair } from "../container/channel/socket-pair.js";
import { codeUid, defaultImage, inside } from "../container/paths.js";
import { InstanceDirectory } from "../host/instance-directory.js";
import { InstanceGuard } from "../host/instance-guard.js";
import { listenLocally } from "../host/local-socket.js";
import type { RuntimeOptions } from "../runtime-options.js";
import type {
  ImageContents,
  Machine,
  MachineSpec,
  RuntimeReport,
  SandboxRuntime,
} from "../sandbox-runtime.js";
import { containerOptions, type DaemonAbilities, ownVariables } from "./container-options.js";
import { DockerMachine } from "./docker-machine.js";
import { probeDocker } from "./docker-probe.js";
import { removeContainer, removeOrphans } from "./engine/container-owner.js";
import {
  type DockerFailure,
  fromDaemon,
  hasImage,
  isMissing,
  openDocker,
  reasonOf,
} from "./engine/docker-engine.js";
import { OutOfMemoryEvents } from "./engine/out-of-memory-events.js";
import { type PreparedImage, preparedImage, recalledContents } from "./image/prepared-image.js";

const keptErrorOutput = 4096;

/** What all machines of this process share; made with the first machine. */
interface Foundation {
  readonly docker: Docker;
  readonly directory: InstanceDirectory;
  readonly guard: InstanceGuard;
  readonly outOfMemory: OutOfMemoryEvents;
  readonly daemon: DaemonAbilities;
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
  #foundation: Promise<Foundation> | undefined;
  readonly images: readonly RuntimeImage[];
  #cleared: Promise<void> | undefined;

  constructor(private readonly options: RuntimeOptions = {}) {
    this.images = (options.dockerImages ?? [defaultImage]).map((name) => ({
      ...{ name, prepared: undefined, contents: undefined },
    }));
  }

  async probe(): Promise<RuntimeReport> {
    const { report } = await this.#probed();
    if (report.usable) await this.#recall();
    return report;
  }

  removeLeftovers(): Promise<void> {
    this.#cleared ??= this.#removeLeftovers().catch((error: unknown) => {
      this.#cleared = undefined;
      throw error;
    });
    return this.#cleared;
  }

  async prepare(): Promise<void> {
    await this.#preparedImage(await this.#laidFoundation(), this.#imageNamed(undefined));
  }

  async start(spec: MachineSpec): Promise<Machine> {
    const { layers = [], disk, files = [], keepIn } = spec;
    if (layers.length > 0 || disk !== undefined || files.length > 0 || keepIn !== undefined)
      throw new Error(this.withoutLayers);
    const wanted = this.#imageNamed(spec.image);
    const foundation = await this.#laidFoundation();
    return this.#startFrom(spec, foundation, wanted).catch((error: DockerFailure) => {
      if (!isMissing(error)) throw error;
      // Somebody has removed the prepared image since: prepare it again.
      wanted.prepared = undefined;
      return this.#startFrom(spec, foundation, wanted);
    });
  }

  async #startFrom(spec: MachineSpec, foundation: Foundation, wanted: RuntimeImage): Promise<Machine> {
    const { docker } = foundation;
    const image = await this.#preparedImage(foundation, wanted);
    const cleanups: (() => void)[] = [];
    // A random name, not the sandbox's id: every user of the daemon can read the names of containers, and anyone who knows
    // the id can open the sandbox's previews.
    const name = randomBytes(8).toString("hex");
    let container: Docker.Container | undefined;
    try {
      const options = containerOptions({
        name: `cloud-sandbox-${name}`,
        image: image.name,
        command: isOfGvisor(foundation.daemon) ? image.commands.machineOfGvisor : image.commands.machine,
        environment: image.environment,
        limits: spec.limits,
        daemon: foundation.daemon,
      });
      container = await fromDaemon(docker.createContainer(options));
      const machine = await this.#boot(spec, { ...foundation, image }, container, name, cleanups);
      await machine.booted();
      return machine;
    } catch (error) {
      if (container) await removeContainer(docker, container.id).catch(() => undefined);
      for (const cleanUp of cleanups) cleanUp();
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#cleared?.catch(() => undefined);
    const foundation = await this.#foundation?.catch(() => undefined);
    this.#foundation = undefined;
    foundation?.outOfMemory.close();
    await foundation?.guard.release();
  }

  async #boot(
    spec: MachineSpec,
    { docker, directory, outOfMemory, image, daemon }: Foundation & { readonly image: PreparedImage },
    container: Docker.Container,
    name: string,
    cleanups: (() => void)[],
  ): Promise<DockerMachine> {
    const streams = { stream: true, hijack: true, stdin: true, stdout: true, stderr: true };
    const carrier = (await fromDaemon(container.attach(streams))) as Duplex;
    const [output, errors] = [new PassThrough(), new PassThrough()];
    docker.modem.demuxStream(carrier, output, errors);
    // The channel closes with it, and the end of the container tells why.
    carrier.on("error", () => undefined);
    carrier.once("end", () => output.end());
    carrier.once("close", () => output.end());
    let said = "";
    errors.setEncoding("utf8").on("data", (chunk: string) => {
      said = (said + chunk).slice(-keptErrorOutput);
    });
    const removed = container.wait({ condition: "removed" });
    removed.catch(() => undefined);
    await fromDaemon(container.start());
    const [near, far] = await socketPair(directory.socket(randomBytes(8).toString("hex")));
    far.unref().on("error", () => undefined);
    output.pipe(far).pipe(carrier);
    const channel = new MachineChannel(near.unref());
    cleanups.push(
      () => channel.close(),
      () => far.destroy(),
      () => carrier.destroy(),
    );
    const listen = async (path: string, onConnection: Parameters<typeof listenLocally>[1]): Promise<void> => {
      const socket = await listenLocally(path, onConnection);
      cleanups.push(() => socket.close());
    };
    await listen(directory.socket(name), (connection) => channel.toAgent(connection));
    if (spec.egress) {
      await listen(directory.egressSocket(name), spec.egress);
      channel.carryEgress(directory.egressSocket(name));
    }
    await channel.assign({
      command: image.commands.agent,
      config: agentConfig(spec, image, daemon),
      agentSocket: inside.agentSocket,
      egressSocket: spec.egress && inside.egressSocket,
    });
    return new DockerMachine({
      ...{ docker, container, channel, spec, removed, isolation: daemon.isolation },
      socketPath: directory.socket(name),
      said: () => said.trim(),
      ranOutOfMemory: () => outOfMemory.has(container.id),
      cleanUp: () => {
        for (const cleanUp of cleanups) cleanUp();
      },
    });
  }

  #probed(): ReturnType<typeof probeDocker> {
    return probeDocker(this.images, this.options);
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

  /** Lays the foundation once. If that failed, the next call tries again. */
  #laidFoundation(): Promise<Foundation> {
    this.#foundation ??= this.#layFoundation().catch((error: unknown) => {
      this.#foundation = undefined;
      throw error;
    });
    return this.#foundation;
  }

  async #layFoundation(): Promise<Foundation> {
    const { report, daemon } = await this.#probed();
    if (!report.usable) throw new Error(`${report.reason}; ${report.fix}`);
    await this.removeLeftovers();
    const docker = openDocker(this.options.holdsProcess);
    const outOfMemory = await OutOfMemoryEvents.follow(docker);
    const directory = InstanceDirectory.plan();
    // Start the guard first: it removes the directory if this process is killed. The containers end by themselves.
    const guard = new InstanceGuard(directory, []);
    directory.make();
    return { docker, directory, guard, outOfMemory, daemon };
  }

  /** Prepares an image once. If that failed, the next call tries again. */
  #preparedImage(foundation: Foundation, image: RuntimeImage): Promise<PreparedImage> {
    image.prepared ??= this.#prepareImage(foundation, image).catch((error: unknown) => {
      image.prepared = undefined;
      throw error;
    });
    return image.prepared;
  }

  async #prepareImage({ docker, daemon }: Foundation, image: RuntimeImage): Promise<PreparedImage> {
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

  async #removeLeftovers(): Promise<void> {
    await InstanceDirectory.removeStale();
    const count = await removeOrphans(openDocker());
    if (count > 0) this.options.log?.(`Containers of servers that were killed are removed: ${count}.`);
  }
}

/** Whether containers have gVisor's kernel, which has no securebits. */
const isOfGvisor = ({ isolation }: DaemonAbilities): boolean => isolation === "gvisor";

function agentConfig(spec: MachineSpec, { environment }: PreparedImage, daemon: DaemonAbilities): string {
  const ownNames = Object.keys(ownVariables).filter((name) => !(name in environment));
  return JSON.stringify({
    sandboxId: spec.id,
    publicKey: spec.publicKey,
    listen: { socket: inside.agentSocket },
    template: spec.template,
    limits: spec.limits,
    ...(spec.egress && { egress: { socket: inside.egressSocket, nodePreload: inside.nodePreload } }),
    // The image's own values of the variables that are the agent's here.
    environment: {
      ...Object.fromEntries(Object.entries(environment).filter(([name]) => name in ownVariables)),
      ...spec.environment,
    },
    ownVariables: ownNames,
    runProgramsAs: {
      uid: codeUid,
      gid: codeUid,
      ...(isOfGvisor(daemon) && { launcher: inside.launcher }),
    },
    ownsMachine: true,
  });
}
