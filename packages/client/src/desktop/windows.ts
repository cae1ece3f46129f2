import type { AgentSchemas } from "@cloud-sandbox/protocol";
import type { AgentAccess } from "../agent/agent-access.js";
import { type CallOptions, callInit, requireText, requireWhole } from "../config/options.js";
import { readBody, successOf } from "../transport/contract-clients.js";
import type { ScreenSize } from "./screen-geometry.js";
import { type Screenshot, screenshot } from "./screenshot.js";

/** A window of a desktop. Properties are undefined if the server does not report them. */
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

/** Lists and controls the windows of a desktop. */
export class Windows {
  readonly #access: AgentAccess;

  /** @internal */
  static of(access: AgentAccess): Windows {
    return new Windows(access);
  }

  private constructor(access: AgentAccess) {
    this.#access = access;
  }

  /** Lists all windows (GET /desktop/windows/list). */
  async list(options?: CallOptions): Promise<DesktopWindow[]> {
    const pending = this.#access.client.GET("/desktop/windows/list", callInit(options));
    return readBody(pending, ({ windows }) => (windows ?? []).map(desktopWindow));
  }

  /** Focuses a window (POST /desktop/windows/focus). */
  async focus(id: string, options?: CallOptions): Promise<void> {
    requireText("id", id);
    const body = { window_id: id };
    await successOf(this.#access.client.POST("/desktop/windows/focus", { body, ...callInit(options) }));
  }

  /** Closes a window (POST /desktop/windows/close). */
  async close(id: string, options?: CallOptions): Promise<void> {
    requireText("id", id);
    const body = { window_id: id };
    await successOf(this.#access.client.POST("/desktop/windows/close", { body, ...callInit(options) }));
  }

  /** Resizes a window (POST /desktop/windows/resize). */
  async resize(id: string, { width, height }: ScreenSize, options?: CallOptions): Promise<void> {
    requireText("id", id);
    requireWhole("width", width, 1);
    requireWhole("height", height, 1);
    const body = { window_id: id, width, height };
    await successOf(this.#access.client.POST("/desktop/windows/resize", { body, ...callInit(options) }));
  }

  /** Minimizes a window (POST /desktop/windows/minimize). */
  async minimize(id: string, options?: CallOptions): Promise<void> {
    requireText("id", id);
    const body = { window_id: id };
    await successOf(this.#access.client.POST("/desktop/windows/minimize", { body, ...callInit(options) }));
  }

  /** Takes a screenshot of a window (GET /desktop/x11/capture_window). */
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
