import type { AgentSchemas } from "@cloud-sandbox/protocol";
import type { AgentAccess } from "../agent/agent-access.js";
import {
  type CallOptions,
  callInit,
  callOptionNames,
  checkKnown,
  checkWhole,
  omitUndefined,
  requestInit,
  requireWhole,
} from "../config/options.js";
import { invalidArgument } from "../errors/errors.js";
import { type SandboxProcess, sandboxProcess } from "../machine/machine-reports.js";
import { bodyOf, readBody, successOf } from "../transport/contract-clients.js";
import { type BrowserAccess, type BrowserOptions, startBrowser } from "./browser.js";
import { Keyboard } from "./keyboard.js";
import { Mouse } from "./mouse.js";
import { checkRegion, type ScreenRegion, type ScreenSize } from "./screen-geometry.js";
import { ScreenRecorder } from "./screen-recorder.js";
import { ScreenText } from "./screen-text.js";
import { type Screenshot, type ScreenshotOptions, screenshot } from "./screenshot.js";
import { VncServer } from "./vnc-server.js";
import { Windows } from "./windows.js";

/**
 * The graphical desktop of a sandbox, if its template has one (see the features in `system.health()`). Without a desktop,
 * every call rejects with an `ApiError` of code DESKTOP_NOT_AVAILABLE. Positions and sizes are in pixels.
 */
export class Desktop {
  /** Controls the mouse pointer: click, move, drag, scroll. */
  readonly mouse: Mouse;
  /** Types text and presses keys. */
  readonly keyboard: Keyboard;
  /** Lists, focuses, closes and resizes windows. */
  readonly windows: Windows;
  /** The VNC server, which shows the desktop to VNC viewers. */
  readonly vnc: VncServer;
  /** Records the screen. */
  readonly recording: ScreenRecorder;
  /** Finds text on the screen. */
  readonly text: ScreenText;
  readonly #access: AgentAccess;

  /** @internal */
  static of(access: AgentAccess): Desktop {
    return new Desktop(access);
  }

  private constructor(access: AgentAccess) {
    this.#access = access;
    this.mouse = Mouse.of(access);
    this.keyboard = Keyboard.of(access);
    this.windows = Windows.of(access);
    this.vnc = VncServer.of(access);
    this.recording = ScreenRecorder.of(access);
    this.text = ScreenText.of(access);
  }

  /** Takes a screenshot of the screen or a part of it (POST /desktop/screenshot, POST /desktop/screenshot/region). */
  async screenshot(region?: ScreenRegion, options: ScreenshotOptions = {}): Promise<Screenshot> {
    checkKnown("desktop.screenshot", options, { ...callOptionNames, maxEdge: true });
    checkWhole("maxEdge", options.maxEdge, 64, 8192);
    if (region !== undefined) checkRegion(region);
    const params = { query: omitUndefined({ max_edge: options.maxEdge }) };
    const init = { params, parseAs: "arrayBuffer", ...requestInit(options) } as const;
    const { client } = this.#access;
    return screenshot(
      await successOf(
        region === undefined
          ? client.POST("/desktop/screenshot", init)
          : client.POST("/desktop/screenshot/region", { body: { ...region }, ...init }),
      ),
    );
  }

  /**
   * Starts Chromium on the desktop if it does not run, and makes an address for its DevTools protocol, to which other programs
   * connect: `chromium.connectOverCDP(url)` of Playwright (POST /desktop/browser). Whoever has the address controls the browser.
   */
  browser(options: BrowserOptions = {}): Promise<BrowserAccess> {
    return startBrowser(this.#access, options);
  }

  /** The current size of the screen (GET /desktop/display/current). */
  async display(options?: CallOptions): Promise<Partial<ScreenSize> & { depth?: number }> {
    const { width, height, depth } = await bodyOf(
      this.#access.client.GET("/desktop/display/current", callInit(options)),
    );
    return { ...(width && { width }), ...(height && { height }), ...(depth && { depth }) };
  }

  /** The sizes that the screen can have (GET /desktop/display/available). */
  async resolutions(options?: CallOptions): Promise<ScreenSize[]> {
    const pending = this.#access.client.GET("/desktop/display/available", callInit(options));
    return readBody(pending, ({ resolutions }) => (resolutions ?? []).map(screenSize));
  }

  /** Changes the size of the screen: 320 to 7680 wide, 200 to 4320 high (POST /desktop/display/set). */
  async setResolution({ width, height }: ScreenSize, options?: CallOptions): Promise<void> {
    requireWhole("width", width, 320, 7680);
    requireWhole("height", height, 200, 4320);
    const body = { width, height };
    await successOf(this.#access.client.POST("/desktop/display/set", { body, ...callInit(options) }));
  }

  /** The text in the clipboard (GET /desktop/clipboard/get). */
  async clipboard(options?: CallOptions): Promise<string> {
    const wire = await bodyOf(this.#access.client.GET("/desktop/clipboard/get", callInit(options)));
    return wire.content ?? wire.text ?? "";
  }

  /** Sets the text in the clipboard (POST /desktop/clipboard/set). */
  async setClipboard(text: string, options?: CallOptions): Promise<void> {
    if (typeof text !== "string") throw invalidArgument("text must be a string.");
    const body = { content: text, text };
    await successOf(this.#access.client.POST("/desktop/clipboard/set", { body, ...callInit(options) }));
  }

  /** Earlier texts of the clipboard (GET /desktop/clipboard/history). */
  async clipboardHistory(options?: CallOptions): Promise<string[]> {
    const pending = this.#access.client.GET("/desktop/clipboard/history", callInit(options));
    return (await bodyOf(pending)).history ?? [];
  }

  /** Log lines of the desktop's own programs (GET /desktop/debug/logs). */
  async logs(options?: CallOptions): Promise<string[]> {
    return (await bodyOf(this.#access.client.GET("/desktop/debug/logs", callInit(options)))).logs ?? [];
  }

  /** Processes of the desktop's own programs (GET /desktop/debug/processes). */
  async processes(options?: CallOptions): Promise<SandboxProcess[]> {
    const pending = this.#access.client.GET("/desktop/debug/processes", callInit(options));
    return readBody(pending, ({ processes }) => (processes ?? []).map(sandboxProcess));
  }
}

type WireResolution = NonNullable<AgentSchemas["ResolutionList"]["resolutions"]>[number];

/** A screen size from the wire. Some servers send pairs instead of objects. */
function screenSize(wire: WireResolution): ScreenSize {
  if (!Array.isArray(wire)) return { width: wire.width, height: wire.height };
  const [width = 0, height = 0] = wire;
  return { width, height };
}
