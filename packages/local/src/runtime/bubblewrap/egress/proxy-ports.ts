import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, chown, rename, rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { proxyPorts } from "@cloud-sandbox/server-kit/execution";
import { listenLocally } from "../../host/local-socket.js";
import { ProgramNotStarted } from "../../host-problem.js";
import type { Init } from "../user-namespace.js";
import helperSource from "./proxy-ports.pl?raw";

const ports = Object.values(proxyPorts);

/** After so many failures, and no success in between, no further attempt is made. */
const mostFailures = 3;

/** The proxy's ports inside the network namespace of one program. */
export interface OpenPorts {
  /** Stops listening. Connections that were accepted before stay open. */
  close(): void;
}

/**
 * Opens the egress proxy's ports inside the network namespaces of programs that run without an agent. This process accepts
 * the connections itself, so that a program that makes none costs no process.
 *
 * Node.js cannot enter a namespace, so a helper, one Perl process for all programs, makes the sockets there and sends
 * them here. It runs outside of every sandbox: no code of a program can reach it, or the channel.
 */
export class ProxyPorts {
  #helper: Promise<Helper> | undefined;
  #failures = 0;
  #isClosed = false;

  constructor(private readonly directory: string) {}

  /** False if the ports could not be opened before: there is no Perl, or this host forbids to enter namespaces. */
  get isUsable(): boolean {
    return this.#failures < mostFailures;
  }

  /**
   * Opens the ports in the namespace of a program that has not begun. Rejects with {@link ProgramNotStarted}, also when the
   * program has ended.
   */
  async open(init: Init, onConnection: (connection: Socket) => void): Promise<OpenPorts> {
    try {
      if (init.network === undefined) throw new Error("bubblewrap does not report its network namespace");
      this.#helper ??= this.#start();
      const servers = await (await this.#helper).listen(init, onConnection);
      this.#failures = 0;
      return { close: () => closeAll(servers) };
    } catch (error) {
      if (!(error instanceof ProgramEnded)) this.#failures += 1;
      const reason = error instanceof Error ? error.message : String(error);
      throw new ProgramNotStarted(`the proxy's ports could not be opened in it: ${reason}`);
    }
  }

  /** Starts the helper, so that {@link open} finds it started. A failure is reported there. */
  async prepare(): Promise<void> {
    this.#helper ??= this.#start();
    await this.#helper.catch(() => undefined);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const helper = await this.#helper?.catch(() => undefined);
    await helper?.end();
  }

  async #start(): Promise<Helper> {
    if (this.#isClosed) throw new Error("this control plane is shutting down");
    return new Helper(this.directory, () => {
      this.#helper = undefined;
    });
  }
}

class Helper {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, Waiting>();
  #count = 0;

  /** The guard finds the helper by the instance directory on its command line. */
  constructor(directory: string, onEnd: () => void) {
    const child = spawn("perl", ["-e", helperSource, "--", directory], {
      cwd: "/",
      env: { PATH: process.env.PATH ?? "/usr/bin:/bin", PROXY_ARCHITECTURE: process.arch },
      // Give the helper its own session, so that a signal to this process's group does not end the helper.
      detached: true,
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    this.#child = child;
    child.unref();
    child.channel?.unref();
    child.on("message", (message, socket) => this.#take(message as unknown as Answer, socket));
    const fail = (reason: string): void => {
      onEnd();
      for (const id of [...this.#waiting.keys()]) this.#settle(id, new Error(reason));
    };
    child.once("error", ({ message }) => fail(message));
    child.once("disconnect", () => child.kill("SIGKILL"));
    child.once("exit", () => fail("the helper has ended"));
  }

  listen(init: Init, onConnection: (connection: Socket) => void): Promise<readonly Server[]> {
    const id = ++this.#count;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { servers: [], onConnection, resolve, reject });
      this.#child.send({ id, pid: init.pid, network: init.network, ports }, (error) => {
        if (error) this.#settle(id, error);
      });
    });
  }

  async end(): Promise<void> {
    const { pid, exitCode, signalCode } = this.#child;
    if (pid === undefined || exitCode !== null || signalCode !== null) return;
    const exit = once(this.#child, "exit");
    this.#child.ref();
    this.#child.kill("SIGKILL");
    await exit;
  }

  #take({ id, problem, gone }: Answer, socket: unknown): void {
    const waiting = this.#waiting.get(id);
    if (problem !== undefined) this.#settle(id, gone ? new ProgramEnded(problem) : new Error(problem));
    else if (waiting) {
      waiting.servers.push(accepting(socket, waiting.onConnection));
      if (waiting.servers.length === ports.length) this.#settle(id);
    }
  }

  #settle(id: number, problem?: Error): void {
    const waiting = this.#waiting.get(id);
    if (!waiting) return;
    this.#waiting.delete(id);
    if (problem === undefined) {
      waiting.resolve(waiting.servers);
    } else {
      closeAll(waiting.servers);
      waiting.reject(problem);
    }
  }
}

/** Listens on a socket that the helper has bound. */
function accepting(socket: unknown, onConnection: (connection: Socket) => void): Server {
  const server = createServer({ allowHalfOpen: true }, (connection) => onConnection(connection.unref()));
  // Without a free descriptor `accept` fails. The connection stays queued until a descriptor is free.
  server.on("error", () => undefined);
  return server.listen(socket).unref();
}

function closeAll(servers: readonly Server[]): void {
  for (const server of servers) server.close();
}

class ProgramEnded extends Error {}

interface Waiting {
  readonly servers: Server[];
  readonly onConnection: (connection: Socket) => void;
  readonly resolve: (servers: readonly Server[]) => void;
  readonly reject: (problem: Error) => void;
}

/** A message of the helper, which carries a socket or a problem. */
interface Answer {
  readonly id: number;
  readonly problem?: string;
  /** Whether the program has ended. That does not count as a failure of the helper. */
  readonly gone?: boolean;
}

/**
 * A Unix socket over which one machine reaches this process's egress proxy. No other user of the host can connect to
 * it.
 */
export interface EgressSocket {
  readonly path: string;
  /** Closes the socket and all its connections, and removes its file. */
  close(): Promise<void>;
}

/**
 * Creates the socket at `hidden`, a path that no other user can reach, sets its owner and mode, and then moves it to
 * `path`, where processes of `uid` can connect.
 */
export async function listenForEgress(
  { hidden, path, uid }: { hidden: string; path: string; uid: number | undefined },
  onConnection: (connection: Socket) => void,
): Promise<EgressSocket> {
  const socket = await listenLocally(hidden, onConnection);
  await chmod(hidden, 0o600);
  if (uid !== undefined) await chown(hidden, uid, uid);
  await rename(hidden, path);
  return {
    path,
    async close() {
      socket.close();
      await rm(path, { force: true });
    },
  };
}
