import type { AgentSchemas } from "@cloud-sandbox/protocol";
import type { AgentAccess } from "../agent/agent-access.js";
import { type CallOptions, callInit } from "../config/call-options.js";
import { requireText, requireWhole } from "../config/option-checks.js";
import { readBody, successOf } from "../transport/contract-clients.js";
import type { ScreenSize } from "./screen-geometry.js";
import { type Screenshot, screenshot } from "./screenshot.js";

/** A window on a desktop. Undefined is what the server does not say. */
export interface DesktopWindow {
  id: string | undefined;
  title: string | undefined;
  x: number | undefined;
  y: number | undefined;
  width: number | undefined;
  height: number | undefined;
  focused: boolean | undefined;
  minimized: boolean | undefined;
  pid: number | undefined;
}

/** The windows of a desktop. */
export class Windows {
  readonly #access: AgentAccess;

  /** @internal */
  static of(access: AgentAccess): Windows {
    return new Windows(access);
  }

  private constructor(access: AgentAccess) {
    this.#access = access;
  }

  /** All of them (GET /desktop/windows/list). */
  async list(options?: CallOptions): Promise<DesktopWindow[]> {
    const pending = this.#access.client.GET("/desktop/windows/list", callInit(options));
    return readBody(pending, ({ windows }) => (windows ?? []).map(desktopWindow));
  }

  /** Gives one the focus (POST /desktop/windows/focus). */
  async focus(id: string, options?: CallOptions): Promise<void> {
    requireText("id", id);
    const body = { window_id: id };
    await successOf(this.#access.client.POST("/desktop/windows/focus", { body, ...callInit(options) }));
  }

  /** Closes one (POST /desktop/windows/close). */
  async close(id: string, options?: CallOptions): Promise<void> {
    requireText("id", id);
    const body = { window_id: id };
    await successOf(this.#access.client.POST("/desktop/windows/close", { body, ...callInit(options) }));
  }

  /** Makes one as large as this (POST /desktop/windows/resize). */
  async resize(id: string, { width, height }: ScreenSize, options?: CallOptions): Promise<void> {
    requireText("id", id);
    requireWhole("width", width, 1);
    requireWhole("height", height, 1);
    const body = { window_id: id, width, height };
    await successOf(this.#access.client.POST("/desktop/windows/resize", { body, ...callInit(options) }));
  }

  /** Minimises one (POST /desktop/windows/minimize). */
  async minimize(id: string, options?: CallOptions): Promise<void> {
    requireText("id", id);
    const body = { window_id: id };
    await successOf(this.#access.client.POST("/desktop/windows/minimize", { body, ...callInit(options) }));
  }

  /** What one shows (GET /desktop/x11/capture_window). */
  async capture(id: string, options?: CallOptions): Promise<Screenshot> {
    requireText("id", id);
    const init = {
      params: { query: { window_id: id } },
      parseAs: "arrayBuffer",
      ...callInit(options),
    } as const;
    return screenshot(await successOf(this.#access.client.GET("/desktop/x11/capture_window", init)));
  }
}

function desktopWindow(wire: AgentSchemas["DesktopWindow"]): DesktopWindow {
  const { height, id, pid, title, width, x, y } = wire;
  const focused = wire.focused ?? wire.is_active;
  return { id, title, x, y, width, height, focused, minimized: wire.is_minimized, pid };
}
