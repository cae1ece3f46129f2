import { callInit } from "../config/call-options.js";
import { ConflictError, InvalidResponseError } from "../errors/errors.js";
import type { FrameSocket } from "../streams/frame-socket.js";
import type { StreamRequest } from "../streams/open-frame-socket.js";
import { Activity } from "../transport/calls/activity.js";
import { unlessAborted } from "../transport/calls/unless-aborted.js";
import type { ChannelOptions, Credentials } from "../transport/channel.js";
import { type AgentClient, agentClient, successOf } from "../transport/contract-clients.js";
import { type DecidedRetry, decidedRetry } from "../transport/retry/retry-options.js";
import type { Sockets } from "../transport/sockets/sockets.js";
import type { BackgroundWork } from "./background-work.js";
import type { TokenCache } from "./token-cache.js";

/** What the ways to all agents of one client have in common. */
export interface AgentChannelOptions
  extends Omit<ChannelOptions, "activity" | "baseUrl" | "credentials" | "hasFileTunnel" | "plane"> {
  sockets: Sockets;
  background: BackgroundWork;
}

/** The way to the agent of one sandbox, shared by all `Sandbox` objects of the same id. */
export class AgentAccess {
  /** What goes on between here and the agent. */
  readonly activity = new Activity();
  readonly #options: AgentChannelOptions;
  /** Where the sandbox's ports are seen from outside, with `{port}` in place of the number. Whoever knows it may look. */
  previews: { host?: string | undefined; path?: string | undefined } = {};
  /** Whether its server has the extensions of this contract. */
  isExtended = false;
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

  /** Where the control plane says that the agent answers: the only place its token is sent to. */
  set publicHost(url: string | undefined) {
    if (url === undefined || url === this.#publicHost) return;
    this.#publicHost = url;
    this.#client = undefined;
  }

  get client(): AgentClient {
    this.#client ??= agentClient(this.#channel(this.#options.retry, { isProbe: false }));
    return this.#client;
  }

  /** What it takes several calls to do: closing the client waits for all of them. */
  during<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#options.background.during(work);
  }

  /** For asking whether the agent is there yet: what it answers is the answer, nothing is tried again. */
  probe(): AgentClient {
    return agentClient(this.#channel(decidedRetry(false), { isProbe: true }));
  }

  /** Opens a WebSocket of one operation. */
  async openStream(request: StreamRequest): Promise<FrameSocket> {
    if (this.#publicHost === undefined) throw notReady(this.sandboxId);
    const baseUrl = agentUrl(this.#publicHost);
    const params = { query: { path: "/workspace" } };
    const probe = async ({ abortSignal }: StreamRequest["scope"]): Promise<void> => {
      await successOf(this.client.GET("/files/exists", { params, ...callInit({ signal: abortSignal }) }));
    };
    const ended = this.activity.begin();
    const route = { ...this.#options, baseUrl, credentials: this.#credentials(true), probe, ended };
    try {
      const { openFrameSocket } = await import("../streams/open-frame-socket.js");
      return await openFrameSocket(route, request);
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
      hasFileTunnel: this.isExtended,
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

/** Where a token may be sent to. */
export function agentUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "")
    return url;
  throw new InvalidResponseError({
    summary:
      "The control plane named an address for the sandbox that is not http(s); no token is sent there.",
    hint: "Report it to who runs the server.",
    code: "PUBLIC_HOST_REFUSED",
  });
}

function notReady(id: string): ConflictError {
  return new ConflictError({
    summary: `Sandbox ${id} has no address yet.`,
    hint: "Its status tells why; refresh() asks again.",
    code: "SANDBOX_NOT_READY",
    retryable: true,
  });
}
