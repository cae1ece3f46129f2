import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { type AddressInfo, connect, createServer as createSocketServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { neverSleeps } from "@cloud-sandbox/server-kit/handlers";
import { AgentConnections } from "../../src/agents/agent-connection.js";
import { AgentGateway } from "../../src/gateway/agent-gateway.js";
import { ConnectionBudget } from "../../src/gateway/connection-budget.js";
import { createGatewayServer, type ServerTimeouts } from "../../src/gateway/gateway-server.js";
import { PreviewGateway } from "../../src/gateway/preview-gateway.js";
import { CrossOriginAccess, HostGuard } from "../../src/gateway/request-guards.js";
import { routeRequests } from "../../src/gateway/request-routing.js";
import type { ReachableSandbox } from "../../src/sandboxes/sandbox-record.js";

export const sandboxId = "1700000000abcdefgh";

export const accountKey = "the-account-key";

/** A token for a sandbox. Its signature is not valid, because the gateway does not check it. */
export const tokenFor = (sub: string): string =>
  `e30.${Buffer.from(JSON.stringify({ sub })).toString("base64url")}.c2ln`;

export const upgradeHead = (target: string, ...headers: readonly string[]): string =>
  [`GET ${target} HTTP/1.1`, "Host: localhost", "Connection: Upgrade", "Upgrade: websocket", ...headers]
    .map((line) => `${line}\r\n`)
    .join("")
    .concat("\r\n");

export const switched =
  "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n";

/** A gateway in front of a server on a Unix socket, which stands in for an agent and may behave in other ways. */
export class GatewayRig implements AsyncDisposable {
  /** Finds the sandbox for the gateway. It may throw. */
  sandbox: () => ReachableSandbox;
  isPaused = false;
  isCutOff = false;
  /** Makes the sandbox's machine end. */
  exit: () => void = () => undefined;
  readonly #open = new Set<Socket>();

  private constructor(
    private readonly directory: string,
    private readonly agent: ReturnType<typeof createSocketServer>,
    private readonly server: Server,
  ) {
    const rig = this;
    const machine: NonNullable<ReachableSandbox["machine"]> = {
      id: sandboxId,
      isolation: "namespace",
      agentAddress: { path: this.socketPath },
      exited: new Promise((resolve) => {
        this.exit = () => resolve({ reason: "exited", message: "It has ended." });
      }),
      pause: async () => undefined,
      keep: async () => undefined,
      resume: async () => undefined,
      get isPaused() {
        return rig.isPaused;
      },
      get isCutOff() {
        return rig.isCutOff;
      },
      isAgentStopped: async () => false,
      restartAgent: async () => undefined,
      destroy: async () => undefined,
    };
    const running: ReachableSandbox = {
      id: sandboxId,
      status: "running",
      machine,
      isStopping: false,
      failureReason: undefined,
      sleep: neverSleeps,
    };
    this.sandbox = () => running;
    for (const listener of [agent, server]) {
      listener.on("connection", (socket: Socket) => {
        this.#open.add(socket);
        socket.once("close", () => this.#open.delete(socket));
      });
    }
  }

  /** Starts a gateway. `serve` gets each connection to the agent, and the first data that was sent on it. */
  static async start(
    serve: (socket: Socket, head: string) => void,
    { corsOrigins = [], timeouts }: { corsOrigins?: readonly string[]; timeouts?: ServerTimeouts } = {},
  ): Promise<GatewayRig> {
    const directory = await mkdtemp(join(tmpdir(), "gateway-test-"));
    const agent = createSocketServer({ allowHalfOpen: true }, (socket) => {
      // Ignore errors: the gateway breaks off some connections.
      socket.on("error", () => socket.destroy());
      socket.once("data", (head) => serve(socket, head.toString("latin1")));
    });
    const server = createGatewayServer(timeouts);
    const rig = new GatewayRig(directory, agent, server);
    const agents = new AgentGateway({
      previewUrl: (id) => `http://preview.test/${id}/{port}/`,
      connections: new AgentConnections(() => undefined),
      find: () => rig.sandbox(),
    });
    const previews = new PreviewGateway({
      agents,
      issueToken: async () => ({ token: tokenFor(sandboxId), expiresAt: new Date(Date.now() + 3_600_000) }),
      isAccountKey: (text) => text === accountKey,
    });
    const api = {
      handle: async (request: IncomingMessage, response: ServerResponse) => void request.pipe(response),
    };
    const hosts = new HostGuard("127.0.0.1");
    const crossOrigin = new CrossOriginAccess(corsOrigins);
    routeRequests(server, {
      hosts,
      crossOrigin,
      agents,
      previews,
      api,
      connections: new ConnectionBudget(),
      log: () => undefined,
    });
    await once(agent.listen(join(directory, "agent.sock")), "listening");
    await once(server.listen(0, "127.0.0.1"), "listening");
    return rig;
  }

  /** Path of the agent's Unix socket. */
  private get socketPath(): string {
    return join(this.directory, "agent.sock");
  }

  /** Opens a connection to the gateway, and sends `text` on it. */
  open(text: string): Socket {
    const { port } = this.server.address() as AddressInfo;
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    socket.on("error", () => socket.destroy());
    socket.write(text, "latin1");
    return socket;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    await Promise.all([once(this.agent.close(), "close"), once(this.server.close(), "close")]);
    await rm(this.directory, { recursive: true });
  }
}

/** Collects the text that is received on a connection. The function returned gives the text so far. */
export function received(socket: Socket): () => string {
  let text = "";
  socket.setEncoding("latin1").on("data", (chunk: string) => {
    text += chunk;
  });
  return () => text;
}
