import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer as createChannel, type Http2Session, type ServerHttp2Stream } from "node:http2";
import { connect, createServer, Socket } from "node:net";
import { dirname } from "node:path";
import { text } from "node:stream/consumers";
import { placeHomeFiles } from "../../host/home-files.js";
import { bundleWith } from "../../host/system-bundle.js";
import {
  type Assignment,
  channelLimits,
  channelPaths,
  digestOf,
  type Listening,
  listeningVariable,
  newMachineHeader,
} from "../channel/channel-protocol.js";
import { countdown, endIfSilent } from "../channel/countdown.js";
import { joinStream } from "../channel/join-stream.js";
import { socketPair } from "../channel/socket-pair.js";
import { inside } from "../paths.js";

/** Milliseconds between attempts to reach an agent that does not listen yet. */
const againMs = 5;
const mostStarts = 100;
/** Milliseconds that the control plane may take for the first connection. Only then it gives up the start of a machine too. */
const firstWaitMs = 60_000;
/** Connections to the proxy that code may have open at a time; its agent has fewer. */
const mostEgress = 256;

/**
 * Supervises the agent of a machine, and is its only egress: it carries connections to and from its control plane, so that the
 * machine needs no network. In a Pod the control plane connects to a port. In a container of Docker it comes over the
 * standard streams, and when those were cut, over a Unix socket, with the program `bridge.ts`. When it stays away, this process
 * ends, and with it the machine.
 */
class Supervisor {
  #agent: ChildProcess | undefined;
  #assignment: Assignment | undefined;
  #starts = 0;
  /** Requests of the control plane that wait for a connection to the proxy, and such connections. */
  readonly #waiting: ServerHttp2Stream[] = [];
  readonly #callers: Socket[] = [];

  #controlPlane: Http2Session | undefined;
  /** Stops what ends this process when the control plane stays away. */
  #stopWaiting = (): void => undefined;

  async serve(listening: Listening): Promise<void> {
    const { maxSessionMemory, settings, sessionWindow } = channelLimits;
    const channel = createChannel({ maxSessionMemory, settings });
    channel.on("session", (session) => {
      session.setLocalWindowSize(sessionWindow);
      session.on("error", () => session.destroy());
    });
    channel.on("stream", (stream, headers) => {
      stream.on("error", () => undefined);
      const { session } = stream;
      if (session === undefined) return;
      if (session !== this.#controlPlane) {
        if (digestOf(headers.authorization ?? "") !== listening.hash) return void session.destroy();
        // A session with the secret takes the place of one that may have been cut unnoticed.
        const last = this.#controlPlane;
        this.#accept(session, listening);
        last?.destroy();
      }
      const path = headers[":path"];
      if (path === channelPaths.agent) this.#toAgent(stream);
      else if (path === channelPaths.egress) this.#offer(stream);
      else if (path === channelPaths.restart) this.#restart(stream);
      else if (path === channelPaths.assign) void this.#assign(stream);
      else if (path === channelPaths.hello) this.#greet(stream);
      else stream.respond({ ":status": 404 }, { endStream: true });
    });
    this.#wait(Math.max(listening.waitMs, firstWaitMs));
    channel.listen(listening.at);
    if (typeof listening.at !== "string") return;
    // Code has another uid, so it cannot connect.
    chmodSync(listening.at, 0o600);
    const input = new Socket({ fd: 0, readable: true, writable: false });
    const output = new Socket({ fd: 1, readable: false, writable: true });
    const [near, far] = await socketPair(`${dirname(listening.at)}/streams`);
    far.on("error", () => undefined);
    far.once("close", () => {
      if (this.#controlPlane) return;
      // It ended before it had said anything.
      this.#stopWaiting();
      this.#wait(listening.waitMs);
    });
    for (const stream of [input, output])
      stream.on("error", () => undefined).once("close", () => far.destroy());
    input.once("end", () => far.destroy());
    input.pipe(far).pipe(output);
    channel.emit("connection", near);
  }

  /** Takes a session for the control plane's, until it closes or another one takes its place. */
  #accept(session: Http2Session, { waitMs }: Listening): void {
    this.#controlPlane = session;
    this.#stopWaiting();
    session.once("close", () => {
      if (this.#controlPlane !== session) return;
      this.#controlPlane = undefined;
      this.#wait(waitMs);
    });
    if (waitMs > 0) endIfSilent(session);
  }

  #greet(stream: ServerHttp2Stream): void {
    const isNew = this.#assignment === undefined;
    stream.respond({ ":status": 204, ...(isNew && { [newMachineHeader]: "1" }) }, { endStream: true });
  }

  #wait(ms: number): void {
    this.#stopWaiting = countdown(ms, () => process.exit(0));
  }

  async #assign(stream: ServerHttp2Stream): Promise<void> {
    const assignment = JSON.parse(await text(stream)) as Assignment;
    this.#assignment = assignment;
    mkdirSync(dirname(assignment.agentSocket), { recursive: true, mode: 0o700 });
    if (assignment.egressSocket !== undefined) await this.#listenForEgress(assignment.egressSocket);
    if (assignment.authorities) writeAuthorities(assignment.authorities);
    if (assignment.homeFiles) placeHomeFiles(inside.homeFiles, assignment.homeFiles);
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
      const waiting = this.#takeWaiting();
      if (waiting) join(waiting, caller);
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

  #takeWaiting(): ServerHttp2Stream | undefined {
    for (;;) {
      const waiting = this.#waiting.shift();
      if (waiting === undefined || !waiting.destroyed) return waiting;
    }
  }

  #offer(waiting: ServerHttp2Stream): void {
    for (;;) {
      const caller = this.#callers.shift();
      if (caller === undefined) return void this.#waiting.push(waiting);
      if (caller.destroyed) continue;
      join(waiting, caller);
      return;
    }
  }
}

/** Grants the control plane's request for a connection. */
function join(stream: ServerHttp2Stream, socket: Socket): void {
  if (!stream.destroyed) stream.respond({ ":status": 200 });
  joinStream(stream, socket);
}

/** Writes the host's own authorities where programs, which may have another uid, can read them. */
function writeAuthorities(pem: string): void {
  const { own, bundle } = inside.authorities;
  mkdirSync(dirname(own), { recursive: true });
  writeFileSync(own, pem);
  writeFileSync(bundle, bundleWith(pem));
  chmodSync(dirname(own), 0o755);
  for (const file of [own, bundle]) chmodSync(file, 0o644);
}

/** The variables of programs in a Pod: without those of the cluster, and with the places where programs are installed. */
function withoutCluster({ PATH, HOME, ...rest }: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const own = Object.entries(rest).filter(([name]) => !name.startsWith("KUBERNETES_"));
  return { ...Object.fromEntries(own), HOME, PATH: `${HOME}/.local/bin:${PATH}:${__dirname}/fallbacks` };
}

const { [listeningVariable]: channel = "", ...environment } = process.env;
const listening = JSON.parse(channel) as Listening;
process.env = typeof listening.at === "string" ? environment : withoutCluster(environment);
// Whatever the agent or code has caused, the machine goes on.
process.on("unhandledRejection", (reason) => console.error("supervisor:", reason));
new Supervisor().serve(listening).catch((error: unknown) => {
  console.error("supervisor:", error);
  process.exit(1);
});
