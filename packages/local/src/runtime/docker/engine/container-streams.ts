import type { Socket } from "node:net";
import { type Duplex, PassThrough, type Writable } from "node:stream";
import type Docker from "dockerode";
import { socketPair } from "../../container/channel/socket-pair.js";
import { inside } from "../../container/paths.js";
import { fromDaemon } from "./docker-engine.js";

/** What a container's streams are joined with. */
export interface StreamEnds {
  /** A path for a socket, as {@link socketPair} wants it. */
  readonly path: string;
  /** Where the container's standard error goes. Its end is the caller's. */
  readonly errors: Writable;
}

/** The standard input and output of a container that is about to start, as a socket. */
export async function attachedTo(
  docker: Docker,
  container: Docker.Container,
  ends: StreamEnds,
): Promise<Socket> {
  const streams = { stream: true, hijack: true, stdin: true, stdout: true, stderr: true };
  return socketOf(docker, (await fromDaemon(container.attach(streams))) as Duplex, ends);
}

/** Connects to the supervisor of a container that runs, by a program in it; see `bridge.ts`. */
export async function bridgedTo(
  docker: Docker,
  container: Docker.Container,
  ends: StreamEnds,
  signal: AbortSignal,
): Promise<Socket> {
  const { Config } = await container.inspect({ abortSignal: signal });
  const exec = await container.exec({
    // The words that start Node.js there are those that have started the supervisor, which is the last word.
    Cmd: [...[Config.Entrypoint ?? []].flat().slice(0, -1), inside.bridge, inside.channelSocket],
    User: "0:0",
    ...{ AttachStdin: true, AttachStdout: true, AttachStderr: true },
    abortSignal: signal,
  });
  // Its signal would also end the stream, later.
  const carrier = await exec.start({ hijack: true, stdin: true });
  return socketOf(docker, carrier, ends);
}

async function socketOf(docker: Docker, carrier: Duplex, { path, errors }: StreamEnds): Promise<Socket> {
  const output = new PassThrough();
  docker.modem.demuxStream(carrier, output, errors);
  carrier.on("error", () => undefined);
  for (const event of ["end", "close"]) carrier.once(event, () => output.end());
  const [near, far] = await socketPair(path);
  far
    .unref()
    .on("error", () => undefined)
    .once("close", () => carrier.destroy());
  output.pipe(far).pipe(carrier);
  return near;
}
