import type { AddressInfo, Server, Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { AgentAccess } from "../agent/agent-access.js";
import { checkKnown } from "../config/options.js";
import { clientClosed, invalidArgument, isSandboxError, SandboxError } from "../errors/errors.js";
import { CallScope } from "../transport/calls/calls.js";

/** Options of `forward`. */
export interface PortForwardOptions {
  /** Port of this machine to listen on, 0 to 65535. Default 0: any free one. */
  localPort?: number | undefined;
  /** Address of this machine to listen on. Default 127.0.0.1, which only programs on this machine reach. */
  localHost?: string | undefined;
  /** Called when a connection could not be opened in the sandbox. The program that connected is cut off in any case. */
  onError?: ((error: SandboxError) => void) | undefined;
}

/**
 * A port of this machine that leads to a port of a sandbox. It closes by itself when its client deletes the sandbox, and when
 * a connection finds that the sandbox has ended.
 */
export class PortForward implements AsyncDisposable {
  /** The port in the sandbox. */
  readonly port: number;
  /** The address of this machine on which it listens. */
  readonly localHost: string;
  /** The port of this machine on which it listens. */
  readonly localPort: number;
  /** Resolves when it no longer listens. */
  readonly closed: Promise<void>;
  readonly #access: AgentAccess;
  readonly #onError: PortForwardOptions["onError"];
  readonly #server: Server;
  readonly #opening = new Set<CallScope>();
  readonly #open = new Set<Socket>();
  #isClosing = false;

  /** @internal */
  static async of(access: AgentAccess, port: number, options: PortForwardOptions): Promise<PortForward> {
    const { localHost = "127.0.0.1", localPort = 0, onError } = checked(options);
    if (!access.isExtended) throw notOffered(access.sandboxId);
    access.requireTunnels();
    const { createServer } = process.getBuiltinModule("node:net");
    // Read nothing before the connection in the sandbox is open.
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true });
    await listen(server, localHost, localPort);
    const forward = new PortForward(access, port, server, onError);
    access.onDeleted(() => void forward.close());
    access.untilClosed((closing) => forward.#endWith(closing));
    return forward;
  }

  private constructor(
    access: AgentAccess,
    port: number,
    server: Server,
    onError: PortForwardOptions["onError"],
  ) {
    const { address, port: localPort } = server.address() as AddressInfo;
    this.port = port;
    this.localHost = address;
    this.localPort = localPort;
    this.#access = access;
    this.#onError = onError;
    this.#server = server;
    this.closed = new Promise((resolve) => server.once("close", () => resolve()));
    server.on("connection", (local) => void this.#accept(local));
  }

  /** Stops listening and closes all connections. Closing the client does the same. */
  close(): Promise<void> {
    if (!this.#isClosing) {
      this.#isClosing = true;
      this.#server.close();
      for (const scope of this.#opening) scope.stop(clientClosed());
      for (const local of this.#open) local.resetAndDestroy();
    }
    return this.closed;
  }

  /** Same as `close()`, at the end of the scope of `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #endWith(closing: Promise<void>): Promise<void> {
    await Promise.race([closing, this.closed]);
    await this.close();
  }

  async #accept(local: Socket): Promise<void> {
    const scope = new CallScope(undefined);
    this.#opening.add(scope);
    this.#open.add(local);
    local.once("close", () => this.#open.delete(local));
    // After an error the connection closes, and there is nobody to tell.
    local.on("error", ignore);
    try {
      const remote = await this.#access.openPort(this.port, scope);
      remote.on("error", ignore);
      if (local.destroyed) remote.destroy();
      else join(local, remote);
    } catch (error) {
      local.resetAndDestroy();
      if (this.#isClosing || !isSandboxError(error)) return;
      if (hasEnded(error)) void this.close();
      this.#onError?.(error);
    } finally {
      this.#opening.delete(scope);
      scope.end();
    }
  }
}

/** Forwards bytes in both directions, each of which ends by itself. If one connection breaks, the other does. */
function join(local: Socket, remote: Duplex): void {
  local.pipe(remote).pipe(local);
  local.once("close", () => {
    if (!local.readableEnded) remote.destroy();
  });
  remote.once("close", () => {
    if (!remote.readableEnded) local.resetAndDestroy();
  });
}

const hasEnded = ({ code, name }: SandboxError): boolean =>
  name === "SandboxExpiredError" || code === "SANDBOX_NOT_FOUND";

function checked(options: PortForwardOptions): PortForwardOptions {
  checkKnown("forward", options, { localPort: true, localHost: true, onError: true });
  const { localHost, localPort = 0, onError } = options;
  if (!Number.isInteger(localPort) || localPort < 0 || localPort > 65_535)
    throw invalidArgument(`localPort must be a whole number from 0 to 65535; it is ${localPort}.`);
  if (localHost !== undefined && (typeof localHost !== "string" || localHost === ""))
    throw invalidArgument("localHost must be an address of this machine, such as 127.0.0.1.");
  if (onError !== undefined && typeof onError !== "function")
    throw invalidArgument("onError must be a function.");
  return options;
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const refuse = (cause: Error): void => reject(notListening(host, port, cause));
    server.once("error", refuse);
    server.listen({ host, port }, () => {
      server.off("error", refuse);
      resolve();
    });
  });
}

function notListening(host: string, port: number, cause: Error & { code?: string }): SandboxError {
  if (cause.code === "EADDRNOTAVAIL" || cause.code === "ENOTFOUND")
    return new SandboxError({
      summary: `Cannot listen on ${host}: this machine does not have that address.`,
      hint: "Choose another localHost, such as 127.0.0.1.",
      code: "LOCAL_ADDRESS_UNAVAILABLE",
      cause,
    });
  const reason = reasons[cause.code ?? ""] ?? cause.message;
  return new SandboxError({
    summary: `Cannot listen on port ${port} of ${host}: ${reason}.`,
    hint: "Choose another localPort, or 0 for any free one.",
    code: "LOCAL_PORT_UNAVAILABLE",
    cause,
  });
}

const reasons: Record<string, string> = {
  EACCES: "this user may not open it",
  EADDRINUSE: "another program uses it",
};

function notOffered(sandboxId: string): SandboxError {
  return new SandboxError({
    summary: `The server of sandbox ${sandboxId} does not forward ports.`,
    hint: "Use previewUrl(port), the port's address for HTTP and WebSockets.",
    code: "PORT_FORWARD_UNAVAILABLE",
  });
}

function ignore(): void {
  // Nothing to do.
}
