import type { Socket } from "node:net";
import { type Duplex, PassThrough, type Writable } from "node:stream";
import type Docker from "dockerode";
import { socketPair } from "../../container/channel/socket-pair.js";
import { inside } from "../../container/paths.js";
import { fromDaemon } from "./docker-engine.js";

/** The streams to join with a container's. */
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
  return socketOf(docker, await fromDaemon(attach(container)), ends);
}

/** The standard streams of a container, in Docker's own format. */
export function attach(container: Docker.Container): Promise<Duplex> {
  const streams = { stream: true, hijack: true, stdin: true, stdout: true, stderr: true };
  return takenOver((abortSignal) => container.attach({ ...streams, abortSignal }));
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
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    abortSignal: signal,
  });
  const carrier = await takenOver(
    (abortSignal) => exec.start({ hijack: true, stdin: true, abortSignal }),
    signal,
  );
  return socketOf(docker, carrier, ends);
}

/**
 * The stream of a request whose connection becomes a stream. If the daemon refuses the request, the library leaves the connection
 * open, and it keeps this process running: end it here. `signal` ends it only until there is a stream.
 */
async function takenOver(
  request: (abortSignal: AbortSignal) => Promise<NodeJS.ReadWriteStream>,
  signal?: AbortSignal,
): Promise<Duplex> {
  const ending = new AbortController();
  const end = (): void => ending.abort();
  signal?.addEventListener("abort", end);
  try {
    signal?.throwIfAborted();
    return (await request(ending.signal)) as Duplex;
  } catch (error) {
    end();
    throw error;
  } finally {
    signal?.removeEventListener("abort", end);
  }
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
  // Read and drop what the other side still sends, which would keep the socket open.
  output.pipe(far).once("finish", () => far.destroy());
  far.pipe(carrier);
  return near;
}
