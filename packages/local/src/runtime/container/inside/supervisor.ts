import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, mkdirSync } from "node:fs";
import { createServer as createChannel, type Http2Session, type ServerHttp2Stream } from "node:http2";
import { connect, createServer, Socket } from "node:net";
import { dirname } from "node:path";
import { text } from "node:stream/consumers";
import { type Assignment, channelLimits, channelPaths } from "../channel/channel-protocol.js";
import { endIfSilent } from "../channel/end-if-silent.js";
import { socketPair } from "../channel/socket-pair.js";

/** Milliseconds between attempts to reach an agent that does not listen yet. */
const againMs = 5;
const mostStarts = 100;
/** Connections to the proxy that code may have open at a time; its agent has fewer. */
const mostEgress = 256;

/**
 * Supervises the agent of a machine, and is its only way out: it carries connections over the standard streams of the
 * container, so that the container needs no network. When its input ends, the control plane is gone: it ends too, and with
 * it the container. A supervisor that listens on a port waits for a while for its control plane, or for the next one.
 */
class Supervisor {
  #agent: ChildProcess | undefined;
  #assignment: Assignment | undefined;
  #starts = 0;
  /** Requests of the control plane that wait for a connection to the proxy, and such connections. */
  readonly #askers: ServerHttp2Stream[] = [];
  readonly #callers: Socket[] = [];

  #controlPlane: Http2Session | undefined;
  /** Ends this process when the control plane stays away. */
  #patience: NodeJS.Timeout | undefined;

  /** Serves the control plane: over the standard streams, or on a port. */
  async serve(listening: Listening | undefined): Promise<void> {
    const { maxSessionMemory, settings, sessionWindow } = channelLimits;
    const channel = createChannel({ maxSessionMemory, settings });
    channel.on("session", (session) => {
      session.setLocalWindowSize(sessionWindow);
      session.on("error", () => session.destroy());
      if (listening === undefined) this.#accept(session, () => process.exit(0));
    });
    channel.on("stream", (stream, headers) => {
      stream.on("error", () => undefined);
      const { session } = stream;
      if (session === undefined) return;
      if (session !== this.#controlPlane) {
        if (!listening || !isOf(listening.hash, headers.authorization)) return void session.destroy();
        // A session with the secret takes the place of one that may have been cut unnoticed.
        const last = this.#controlPlane;
        this.#accept(session, () => this.#wait(listening));
        last?.destroy();
        endIfSilent(session);
      }
      const path = headers[":path"];
      if (path === channelPaths.agent) this.#toAgent(stream);
      else if (path === channelPaths.egress) this.#offer(stream);
      else if (path === channelPaths.restart) this.#restart(stream);
      else if (path === channelPaths.assign) void this.#assign(stream);
      else if (path === channelPaths.hello) stream.respond({ ":status": 204 }, { endStream: true });
      else stream.respond({ ":status": 404 }, { endStream: true });
    });
    if (listening) {
      channel.listen(listening.port);
      return this.#wait(listening);
    }
    const input = new Socket({ fd: 0, readable: true, writable: false });
    const output = new Socket({ fd: 1, readable: false, writable: true });
    for (const stream of [input, output]) stream.once("close", () => process.exit(0));
    input.once("end", () => process.exit(0));
    const [near, far] = await socketPair(`${__dirname}/run/channel`);
    far.on("error", () => process.exit(0));
    input.pipe(far).pipe(output);
    channel.emit("connection", near);
  }

  /** Takes a session for the control plane's. `onEnd` is called when it closes, unless another one has taken its place. */
  #accept(session: Http2Session, onEnd: () => void): void {
    this.#controlPlane = session;
    clearTimeout(this.#patience);
    session.once("close", () => {
      if (this.#controlPlane !== session) return;
      this.#controlPlane = undefined;
      onEnd();
    });
  }

  #wait({ waitMs }: Listening): void {
    this.#patience = setTimeout(() => process.exit(0), waitMs);
  }

  async #assign(stream: ServerHttp2Stream): Promise<void> {
    const assignment = JSON.parse(await text(stream)) as Assignment;
    this.#assignment = assignment;
    mkdirSync(dirname(assignment.agentSocket), { recursive: true, mode: 0o700 });
    if (assignment.egressSocket !== undefined) await this.#listenForEgress(assignment.egressSocket);
    this.#startAgent(assignment);
    stream.respond({ ":status": 204 }, { endStream: true });
  }

  #startAgent({ command, config }: Assignment): void {
    const [program = "", ...args] = command;
    this.#starts += 1;
    // The agent must not write to the channel.
    const agent = spawn(program, args, {
      env: { ...process.env, CLOUD_SANDBOX_AGENT_CONFIG: config },
      stdio: ["ignore", 2, 2],
    });
    this.#agent = agent;
    agent.once("error", (error) => {
      console.error(`The agent could not be started: ${error.message}`);
      process.exit(1);
    });
    agent.once("exit", () => {
      if (this.#starts >= mostStarts || this.#assignment === undefined) process.exit(1);
      this.#startAgent(this.#assignment);
    });
  }

  #restart(stream: ServerHttp2Stream): void {
    this.#agent?.kill("SIGKILL");
    stream.respond({ ":status": 204 }, { endStream: true });
  }

  /** Connects to the agent, and tries again while it starts: as on a socket that listens, the caller waits. */
  #toAgent(stream: ServerHttp2Stream): void {
    if (stream.destroyed || this.#assignment === undefined) return;
    const agent = connect({ path: this.#assignment.agentSocket, allowHalfOpen: true });
    const again = (): void => void setTimeout(() => this.#toAgent(stream), againMs);
    agent.once("error", again);
    agent.once("connect", () => {
      agent.off("error", again);
      join(stream, agent);
    });
  }

  #listenForEgress(path: string): Promise<void> {
    const server = createServer({ allowHalfOpen: true }, (caller) => {
      caller.on("error", () => undefined);
      const asker = this.#takeAsker();
      if (asker) join(asker, caller);
      else this.#callers.push(caller);
    });
    server.maxConnections = mostEgress;
    // Without a free descriptor `accept` fails. The connection stays queued until a descriptor is free.
    server.on("error", () => undefined);
    return new Promise((resolve) => {
      server.listen(path, () => {
        // Programs may use it without the agent: the proxy outside decides what they reach.
        chmodSync(path, 0o666);
        resolve();
      });
    });
  }

  #takeAsker(): ServerHttp2Stream | undefined {
    for (;;) {
      const asker = this.#askers.shift();
      if (asker === undefined || !asker.destroyed) return asker;
    }
  }

  #offer(asker: ServerHttp2Stream): void {
    for (;;) {
      const caller = this.#callers.shift();
      if (caller === undefined) return void this.#askers.push(asker);
      if (caller.destroyed) continue;
      join(asker, caller);
      return;
    }
  }
}

function join(stream: ServerHttp2Stream, socket: Socket): void {
  socket.on("error", () => stream.close());
  stream.once("close", () => socket.destroy());
  if (stream.destroyed) return void socket.destroy();
  stream.respond({ ":status": 200 });
  stream.pipe(socket);
  socket.pipe(stream);
}

interface Listening {
  readonly port: number;
  /** SHA-256, in hexadecimal, of the secret that the control plane has. */
  readonly hash: string;
  /** Milliseconds to wait for the control plane. */
  readonly waitMs: number;
}

/** Whether `secret` is the one that `hash` was made of. */
function isOf(hash: string, secret: string | undefined): boolean {
  return secret !== undefined && createHash("sha256").update(secret).digest("hex") === hash;
}

/** The variables of programs in a Pod: without those of the cluster, and with the places where programs are installed. */
function withoutCluster({ PATH, HOME, ...rest }: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const own = Object.entries(rest).filter(([name]) => !name.startsWith("KUBERNETES_"));
  return { ...Object.fromEntries(own), HOME, PATH: `${HOME}/.local/bin:${PATH}:${__dirname}/substitutes` };
}

const { CLOUD_SANDBOX_CHANNEL: listening, ...environment } = process.env;
process.env = listening === undefined ? environment : withoutCluster(environment);
void new Supervisor().serve(listening === undefined ? undefined : (JSON.parse(listening) as Listening));
