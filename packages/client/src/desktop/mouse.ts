import type { AgentSchemas } from "@cloud-sandbox/protocol";
import type { AgentAccess } from "../agent/agent-access.js";
import {
  type CallOptions,
  callInit,
  callOptionNames,
  checkKnown,
  checkOneOf,
  checkWhole,
  omitUndefined,
  requestInit,
  requireWhole,
} from "../config/options.js";
import { successOf } from "../transport/contract-clients.js";
import { checkPoint, type Point } from "./screen-geometry.js";

/** A mouse button: `left`, `middle` or `right`. */
export type MouseButton = AgentSchemas["MouseButton"];

/** Options of `click`. */
export interface ClickOptions extends CallOptions {
  /** Button to click. Default: left. */
  button?: MouseButton | undefined;
  /** Number of clicks, 1 to 10. Default 1. */
  clicks?: number | undefined;
}

/** Options of `scroll`. */
export interface ScrollOptions extends CallOptions {
  /** Position to move the pointer to first. Default: its current position. */
  at?: Point | undefined;
  /** Scroll direction. Default: down. */
  direction?: NonNullable<AgentSchemas["MouseScrollRequest"]["direction"]> | undefined;
}

/** The mouse pointer of a desktop. */
export class Mouse {
  readonly #access: AgentAccess;

  /** @internal */
  static of(access: AgentAccess): Mouse {
    return new Mouse(access);
  }

  private constructor(access: AgentAccess) {
    this.#access = access;
  }

  /** Clicks at a position (POST /desktop/mouse/click). */
  async click({ x, y }: Point, options: ClickOptions = {}): Promise<void> {
    checkKnown("mouse.click", options, { ...callOptionNames, button: true, clicks: true });
    const { button, clicks } = options;
    checkPoint("point", { x, y });
    checkOneOf("button", button, buttons);
    checkWhole("clicks", clicks, 1, 10);
    const body = { x, y, ...omitUndefined({ button, clicks }) };
    await successOf(this.#access.client.POST("/desktop/mouse/click", { body, ...requestInit(options) }));
  }

  /** Moves the pointer (POST /desktop/mouse/move). */
  async move({ x, y }: Point, options?: CallOptions): Promise<void> {
    checkPoint("point", { x, y });
    const body = { x, y };
    await successOf(this.#access.client.POST("/desktop/mouse/move", { body, ...callInit(options) }));
  }

  /** Moves the pointer with a button held down (POST /desktop/mouse/drag). */
  async drag(
    from: Point,
    to: Point,
    options: Pick<ClickOptions, "button"> & CallOptions = {},
  ): Promise<void> {
    checkKnown("mouse.drag", options, { ...callOptionNames, button: true });
    checkOneOf("button", options.button, buttons);
    const body = { ...path(from, to), ...omitUndefined({ button: options.button }) };
    await successOf(this.#access.client.POST("/desktop/mouse/drag", { body, ...requestInit(options) }));
  }

  /** Drags an object and drops it on a target that accepts it (POST /desktop/x11/drag-drop). */
  async dragAndDrop(from: Point, to: Point, options?: CallOptions): Promise<void> {
    const body = path(from, to);
    await successOf(this.#access.client.POST("/desktop/x11/drag-drop", { body, ...callInit(options) }));
  }

  /** Turns the wheel by `amount` notches, 1 or more (POST /desktop/mouse/scroll). */
  async scroll(amount: number, options: ScrollOptions = {}): Promise<void> {
    checkKnown("mouse.scroll", options, { ...callOptionNames, at: true, direction: true });
    const { at, direction = "down" } = options;
    requireWhole("amount", amount, 1);
    checkOneOf("direction", direction, directions);
    if (at !== undefined) checkPoint("at", at);
    const body = { amount, direction, ...omitUndefined({ x: at?.x, y: at?.y }) };
    await successOf(this.#access.client.POST("/desktop/mouse/scroll", { body, ...requestInit(options) }));
  }
}

function path(from: Point, to: Point): AgentSchemas["DragDropRequest"] {
  checkPoint("from", from);
  checkPoint("to", to);
  return { from_x: from.x, from_y: from.y, to_x: to.x, to_y: to.y };
}

const buttons: readonly MouseButton[] = ["left", "middle", "right"];
const directions: readonly NonNullable<ScrollOptions["direction"]>[] = ["up", "down", "left", "right"];
