import type { AgentSchemas } from "@cloud-sandbox/protocol";
import type { AgentAccess } from "../agent/agent-access.js";
import {
  type CallOptions,
  callInit,
  callOptionNames,
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
  /** Password that viewers must enter. Default: none. */
  password?: string | undefined;
}

/** State of the VNC server. */
export interface VncState {
  running: boolean;
  display: number | string | undefined;
  port: number | undefined;
  /** URL that viewers connect to. */
  url: string | undefined;
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

  /** Starts the VNC server (POST /desktop/vnc/start). */
  async start(options: VncStartOptions = {}): Promise<VncState> {
    checkKnown("vnc.start", options, { ...callOptionNames, display: true, password: true });
    const { display = 1, password } = options;
    checkWhole("display", display, 0);
    checkText("password", password);
    const body = { display, ...omitUndefined({ password }) };
    return vncState(
      await bodyOf(this.#access.client.POST("/desktop/vnc/start", { body, ...requestInit(options) })),
    );
  }

  /** Stops the VNC server (POST /desktop/vnc/stop). */
  async stop(options?: CallOptions): Promise<VncState> {
    return vncState(await bodyOf(this.#access.client.POST("/desktop/vnc/stop", callInit(options))));
  }

  /** State of the VNC server (GET /desktop/vnc/status). */
  async status(options?: CallOptions): Promise<VncState> {
    return vncState(await bodyOf(this.#access.client.GET("/desktop/vnc/status", callInit(options))));
  }
}

function vncState({ display, port, running, url }: AgentSchemas["VncStatus"]): VncState {
  return { running: running ?? false, display, port, url };
}
