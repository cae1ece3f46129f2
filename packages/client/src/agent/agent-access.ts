import type { Duplex } from "node:stream";
import { callInit } from "../config/options.js";
import { ConflictError, InvalidResponseError, reportIt } from "../errors/errors.js";
import type { FrameSocket } from "../streams/frame-socket.js";
import type { StreamRequest } from "../streams/open-frame-socket.js";
import type { SocketRoute } from "../streams/opening.js";
import { Activity, type CallScope, unlessAborted } from "../transport/calls/calls.js";
import type { ChannelOptions, Credentials } from "../transport/channel.js";
import { type AgentClient, agentClient, successOf } from "../transport/contract-clients.js";
import { type DecidedRetry, decidedRetry } from "../transport/retry-policy.js";
import type { ClientSockets } from "../transport/sockets/client-sockets.js";
import type { BackgroundWork } from "./background-work.js";
import type { TokenCache } from "./token-cache.js";

/** Channel options that the agents of all sandboxes of a client share. */
export interface AgentChannelOptions
  extends Omit<ChannelOptions, "activity" | "baseUrl" | "credentials" | "plane"> {
  sockets: ClientSockets;
  background: BackgroundWork;
}

/** Access to the agent of one sandbox, shared by all `Sandbox` objects of the same id. */
export class AgentAccess {
  /** When this client last used the sandbox. */
  readonly activity = new Activity();
  readonly #options: AgentChannelOptions;
  /**
   * Public URLs of the sandbox's ports, with `{port}` in place of the port number. Anyone who knows such a URL can open
   * it.
   */
  previews: { host?: string | undefined; path?: string | undefined } = {};
  /** Whether the server has this project's extensions of the HOPX API. */
  isExtended = false;
  readonly #onDeleted: (() => void)[] = [];
  #publicHost: string | undefined;
  #client: AgentClient | undefined;

  constructor(
    readonly sandboxId: string,
    readonly tokens: TokenCache,
    options: AgentChannelOptions,
  ) {
    this.#options = options;
  }

  get publicHost(): string | undefined {
    return this.#publicHost;
  }

  /** The agent's URL, as named by the control plane. The sandbox's token is sent nowhere else. */
  set publicHost(url: string | undefined) {
    if (url === undefined || url === this.#publicHost) return;
    this.#publicHost = url;
    this.#client = undefined;
  }

  get client(): AgentClient {
    this.#client ??= agentClient(this.#channel(this.#options.retry, { isProbe: false }));
    return this.#client;
  }

  /** Calls `listener` when this client has deleted the sandbox. */
  onDeleted(listener: () => void): void {
    this.#onDeleted.push(listener);
  }

  /** Reports that this client has deleted the sandbox. */
  deleted(): void {
    for (const listener of this.#onDeleted.splice(0)) listener();
  }

  /** Runs work until the client is closed; closing it waits until the work has ended, which `closing` asks for. */
  untilClosed(work: (closing: Promise<void>) => Promise<void>): void {
    this.background.run(() => work(this.background.closing));
  }

  /** Work of the client that continues after a call, or takes several calls. */
  get background(): BackgroundWork {
    return this.#options.background;
  }

  /**
   * A client for readiness checks: no retries, and failures are not reported, because "not ready" is an expected answer.
   */
  probe(): AgentClient {
    return agentClient(this.#channel(decidedRetry(false), { isProbe: true }));
  }

  /** Opens a WebSocket to the agent. */
  async openStream(request: StreamRequest): Promise<FrameSocket> {
    const { openFrameSocket } = await import("../streams/open-frame-socket.js");
    return this.#connecting((route) => openFrameSocket(route, request));
  }

  /** Throws a `ConfigurationError` if this client cannot open connections to ports. */
  requireTunnels(): void {
    this.#options.sockets.requireTunnels();
  }

  /** Opens a connection to a port inside the sandbox. */
  async openPort(port: number, scope: CallScope): Promise<Duplex> {
    const { openPort } = await import("../streams/open-port.js");
    return this.#connecting((route) => openPort(route, port, scope));
  }

  async #connecting<Opened>(open: (route: SocketRoute) => Promise<Opened>): Promise<Opened> {
    if (this.#publicHost === undefined) throw notReady(this.sandboxId);
    const baseUrl = agentUrl(this.#publicHost);
    const params = { query: { path: "/workspace" } };
    const probe = async ({ abortSignal }: CallScope): Promise<void> => {
      await successOf(this.client.GET("/files/exists", { params, ...callInit({ signal: abortSignal }) }));
    };
    const ended = this.activity.begin();
    const route = { ...this.#options, baseUrl, credentials: this.#credentials(true), probe, ended };
    try {
      return await open(route);
    } catch (error) {
      ended();
      throw error;
    }
  }

  #channel(retry: DecidedRetry, { isProbe }: { isProbe: boolean }): ChannelOptions {
    if (this.#publicHost === undefined) throw notReady(this.sandboxId);
    const baseUrl = agentUrl(this.#publicHost);
    return {
      ...this.#options,
      activity: this.activity,
      retry,
      baseUrl,
      plane: "agent",
      credentials: this.#credentials(!isProbe),
      expectsFailure: isProbe,
    };
  }

  #credentials(renews: boolean): Credentials {
    const { tokens } = this;
    const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });
    const credentials: Credentials = {
      headers: (signal) => {
        const token = tokens.current();
        return typeof token === "string" ? bearer(token) : unlessAborted(token, signal).then(bearer);
      },
      secrets: () => (tokens.value === undefined ? [] : [tokens.value]),
    };
    if (renews) {
      credentials.renew = ({ authorization = "" }, signal) =>
        unlessAborted(tokens.replace(authorization.slice("Bearer ".length)), signal);
    }
    return credentials;
  }
}

/** Parses the agent's URL. Throws unless it is http(s) without credentials, because a token will be sent there. */
export function agentUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "")
    return url;
  throw new InvalidResponseError({
    summary:
      "The control plane named an address for the sandbox that is not http(s); no token is sent there.",
    hint: reportIt,
    code: "PUBLIC_HOST_REFUSED",
  });
}

function notReady(id: string): ConflictError {
  return new ConflictError({
    summary: `Sandbox ${id} has no address yet.`,
    hint: "Call refresh() and read the sandbox's status, which says why.",
    code: "SANDBOX_NOT_READY",
    retryable: true,
  });
}
