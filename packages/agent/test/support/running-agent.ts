import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { Agent as ConnectionPool, type IncomingHttpHeaders, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentSchemas } from "@cloud-sandbox/protocol";
import { createAgent } from "../../src/agent.js";
import { serveAgent } from "../../src/agent-server.js";
import type { AgentConfig } from "../../src/config/agent-config.js";
import { parseAgentConfig } from "../../src/config/agent-config.js";
import { publicKey, signToken } from "./tokens.js";

export const sandboxId = "1700000000abcdefgh";

export interface Answer<Body = Record<string, unknown>> {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly body: Body;
}

export interface CallOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export type Ran = AgentSchemas["ExecuteResponse"] & AgentSchemas["CommandResponse"];

/** An agent on a Unix socket, with two new directories in place of /workspace and /tmp. */
export class RunningAgent implements AsyncDisposable {
  readonly #pool = new ConnectionPool({ keepAlive: true });

  private constructor(
    readonly socket: string,
    readonly home: string,
    readonly workspace: string,
    readonly temporary: string,
    readonly token: string,
    /** Does what an agent does before its first call. */
    readonly warmUp: () => Promise<void>,
    private readonly stop: () => Promise<void>,
  ) {}

  static async start(overrides: Partial<AgentConfig> = {}): Promise<RunningAgent> {
    const home = await mkdtemp(join(tmpdir(), "agent-test-"));
    const [workspace, temporary, socket] = ["workspace", "tmp", "agent.sock"].map((name) =>
      join(home, name),
    ) as [string, string, string];
    await Promise.all([mkdir(workspace), mkdir(temporary)]);
    const listen = { socket };
    const config = parseAgentConfig(
      JSON.stringify({
        sandboxId,
        publicKey: await publicKey(),
        listen,
        roots: [workspace, temporary],
        ...overrides,
      }),
    );
    const agent = await createAgent(config);
    const server = await serveAgent(agent, config.listen);
    return new RunningAgent(
      socket,
      home,
      workspace,
      temporary,
      await signToken({ sub: sandboxId }),
      () => agent.warmUp(),
      async () => {
        server.closeAllConnections();
        const closed = new Promise((resolve) => server.close(resolve));
        // Close the agent, because `server.closeAllConnections` does not close WebSockets.
        await agent.close();
        await closed;
      },
    );
  }

  async call<Body = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
    { headers = {}, signal }: CallOptions = {},
  ): Promise<Answer<Body>> {
    const payload = body === undefined || Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
    return new Promise((resolve, reject) => {
      const outgoing = request({
        socketPath: this.socket,
        agent: this.#pool,
        method,
        path,
        signal,
        headers: {
          authorization: `Bearer ${this.token}`,
          ...(payload && { "content-type": "application/json", "content-length": payload.length }),
          ...headers,
        },
      });
      outgoing.on("error", reject);
      outgoing.once("response", async (incoming) => {
        try {
          const chunks = await incoming.toArray();
          const bytes = Buffer.concat(chunks);
          const isJson = incoming.headers["content-type"]?.startsWith("application/json");
          resolve({
            status: incoming.statusCode ?? 0,
            headers: incoming.headers,
            bytes,
            body: isJson ? JSON.parse(bytes.toString()) : undefined,
          });
        } catch (error) {
          reject(error);
        }
      });
      outgoing.end(payload);
    });
  }

  execute(request: Partial<AgentSchemas["ExecuteRequest"]>, options?: CallOptions): Promise<Answer<Ran>> {
    return this.call("POST", "/execute", request, options);
  }

  run(request: AgentSchemas["CommandRequest"], options?: CallOptions): Promise<Answer<Ran>> {
    return this.call("POST", "/commands/run", request, options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#pool.destroy();
    await this.stop();
    await rm(this.home, { recursive: true, force: true, maxRetries: 5 });
  }
}
