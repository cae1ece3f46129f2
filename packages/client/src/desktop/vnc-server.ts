import type { AgentSchemas } from "@cloud-sandbox/protocol";
import type { AgentAccess } from "../agent/agent-access.js";
import {
  type CallOptions,
  callInit,
  callOptionNames,
  checkBoolean,
  checkKnown,
  checkText,
  checkWhole,
  omitUndefined,
  requestInit,
} from "../config/options.js";
import { bodyOf } from "../transport/contract-clients.js";

/** Options of `vnc.start`. */
export interface VncStartOptions extends CallOptions {
  /** Number of the X display, from 0. Default 1. */
  display?: number | undefined;
  /** Password of at least 6 characters that viewers must enter. Default: none; the link has a token, and is all that viewers need. */
  password?: string | undefined;
  /** Whether viewers only look, without mouse and keyboard. Default: false. */
  viewOnly?: boolean | undefined;
  /** Seconds until the link expires and its views are closed, 10 to 86400. Default 3600. */
  expiresInSeconds?: number | undefined;
}

/** State of the VNC server. */
export interface VncState {
  running: boolean;
  display: number | string | undefined;
  port: number | undefined;
  /** Link to the live view, to open in a browser. Whoever has it sees the desktop, and uses it unless it is `viewOnly`. */
  url: string | undefined;
  viewOnly: boolean | undefined;
  /** When the link expires; undefined if the server does not say. */
  expiresAt: Date | undefined;
}

/** The VNC server of a desktop. */
export class VncServer {
  readonly #access: AgentAccess;

  /** @internal */
  static of(access: AgentAccess): VncServer {
    return new VncServer(access);
  }

  private constructor(access: AgentAccess) {
    this.#access = access;
  }

  /** Starts the VNC server and makes a link to its live view (POST /desktop/vnc/start). Earlier links stay valid. */
  async start(options: VncStartOptions = {}): Promise<VncState> {
    checkKnown("vnc.start", options, { ...callOptionNames, ...vncOptionNames });
    const { display = 1, password, viewOnly, expiresInSeconds } = options;
    checkWhole("display", display, 0);
    checkText("password", password);
    checkBoolean("viewOnly", viewOnly);
    checkWhole("expiresInSeconds", expiresInSeconds, 10, 86_400);
    const body = {
      display,
      ...omitUndefined({ password, view_only: viewOnly, expires_in: expiresInSeconds }),
    };
    return vncState(
      await bodyOf(this.#access.client.POST("/desktop/vnc/start", { body, ...requestInit(options) })),
    );
  }

  /** Ends all views and makes their links invalid (POST /desktop/vnc/stop). The desktop goes on. */
  async stop(options?: CallOptions): Promise<VncState> {
    return vncState(await bodyOf(this.#access.client.POST("/desktop/vnc/stop", callInit(options))));
  }

  /** State of the VNC server (GET /desktop/vnc/status). */
  async status(options?: CallOptions): Promise<VncState> {
    return vncState(await bodyOf(this.#access.client.GET("/desktop/vnc/status", callInit(options))));
  }
}

const vncOptionNames = { display: true, password: true, viewOnly: true, expiresInSeconds: true } as const;

function vncState({
  display,
  expires_at,
  port,
  running,
  url,
  view_only,
}: AgentSchemas["VncStatus"]): VncState {
  const expiresAt = expires_at === undefined ? undefined : new Date(expires_at);
  return { running: running ?? false, display, port, url, viewOnly: view_only, expiresAt };
}
