import { Client, type Dispatcher } from "undici";
import type { LocalServer } from "./local-server.js";

export interface Told<Body = Record<string, unknown>> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

export interface CreatedSandbox {
  readonly id: string;
  readonly status: string;
  readonly auth_token: string;
  readonly public_host: string;
  readonly expires_at: string;
}

/** Sends requests to a server without the client library, so that tests see its answers unchanged. */
export class ControlPlaneCaller {
  constructor(private readonly server: Pick<LocalServer, "url" | "apiKey">) {}

  async call<Body = Record<string, unknown>>(
    method: string,
    path: string,
    body?: object,
    headers: Record<string, string> = {},
    signal?: AbortSignal,
  ): Promise<Told<Body>> {
    const response = await fetch(`${this.server.url}/v1${path}`, {
      method,
      headers: { "X-API-Key": this.server.apiKey, ...headers },
      ...(body && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    });
    return { status: response.status, headers: response.headers, body: (await response.json()) as Body };
  }

  /** Sends requests over one connection, each without waiting for the answers to those before: they reach the server in this order. */
  async inOrder(
    ...requests: readonly (readonly [string, string, object?])[]
  ): Promise<Omit<Told, "headers">[]> {
    const connection = new Client(this.server.url, { pipelining: requests.length });
    const headers = { "X-API-Key": this.server.apiKey };
    try {
      return await Promise.all(
        requests.map(async ([method, path, body]) => {
          const text = body && JSON.stringify(body);
          const request = {
            method,
            path: `/v1${path}`,
            headers,
            idempotent: true,
            ...(text && { body: text }),
          };
          const answer = await connection.request(request as Dispatcher.RequestOptions);
          return { status: answer.statusCode, body: (await answer.body.json()) as Told["body"] };
        }),
      );
    } finally {
      await connection.close();
    }
  }

  async create(body: object = {}): Promise<CreatedSandbox> {
    const told = await this.call("POST", "/sandboxes", { template_name: "base", ...body });
    if (told.status !== 201)
      throw new Error(`create was answered with ${told.status}: ${JSON.stringify(told.body)}`);
    return told.body as unknown as CreatedSandbox;
  }

  /**
   * Sends a request. Resolves with status and code of the answer, as `409 CONFLICT`; without a code, with the sandbox's
   * status.
   */
  async told(method: string, path: string, body?: object): Promise<string> {
    const { status, body: said } = await this.call(method, path, body);
    return [status, said.code ?? said.status].join(" ");
  }

  /** Runs a shell command in a sandbox, with the address and the token from its creation. */
  run(sandbox: CreatedSandbox, command: string): Promise<Told> {
    return this.agent(sandbox, "/commands/run", { command });
  }

  /** Sends a request to a sandbox's agent. */
  async agent(
    { id, auth_token }: CreatedSandbox,
    path: string,
    body: object,
    signal?: AbortSignal,
  ): Promise<Told> {
    const response = await fetch(`${this.server.url}/agent/${id}${path}`, {
      method: "POST",
      headers: { Authorization: `Bearer ${auth_token}`, "Content-Type": "application/json" },
      body: JSON.stringify(body),
      ...(signal && { signal }),
    });
    return {
      status: response.status,
      headers: response.headers,
      body: (await response.json()) as Told["body"],
    };
  }
}
