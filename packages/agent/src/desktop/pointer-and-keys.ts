import type { AgentSchemas } from "@cloud-sandbox/protocol";
import { Problem } from "@cloud-sandbox/server-kit";
import type { Desktop } from "./desktop.js";
import type { ToolOutput } from "./desktop-tool.js";
import { SpareKeys } from "./spare-keys.js";

type Button = AgentSchemas["MouseButton"];
type Drag = AgentSchemas["MouseDragRequest"];

const buttons: Readonly<Record<Button, string>> = { left: "1", middle: "2", right: "3" };
/** X has a button for each direction of the wheel. */
const wheel = { up: "4", down: "5", left: "6", right: "7" } as const;
/** Pixels of `delta_y` for a notch of the wheel, as in browsers. */
const pixelsPerNotch = 100;
/** Seconds that a program gets to see that a drag began, before the pointer moves on. */
const dragPause = "0.05";

/** Most seconds that typing may take. */
const longestTyping = 300;
const toolMarginMs = 10_000;

/** The mouse and the keyboard of a desktop. Both go through xdotool. */
export class PointerAndKeys {
  readonly #spareKeys: SpareKeys;

  constructor(private readonly desktop: Desktop) {
    this.#spareKeys = new SpareKeys(desktop);
  }

  async click(request: AgentSchemas["MouseClickRequest"], signal: AbortSignal): Promise<void> {
    const { x, y, button = "left", clicks = 1 } = request;
    const click = ["click", "--repeat", String(clicks), "--delay", "50", buttons[button]];
    await this.#xdotool([...moveTo(x, y), ...click], signal);
  }

  async move({ x, y }: AgentSchemas["MouseMoveRequest"], signal: AbortSignal): Promise<void> {
    await this.#xdotool(moveTo(x, y), signal);
  }

  /** Moves in steps, because programs begin a drag only when the pointer has moved a little with its button down. */
  async drag({ from_x, from_y, to_x, to_y, button = "left" }: Drag, signal: AbortSignal): Promise<void> {
    const pressed = buttons[button];
    const between = [0.1, 0.5, 0.9].flatMap((part) => [
      ...moveTo(Math.round(from_x + (to_x - from_x) * part), Math.round(from_y + (to_y - from_y) * part)),
      ...["sleep", "0.01"],
    ]);
    const steps = [
      ...[...moveTo(from_x, from_y), "mousedown", pressed, "sleep", dragPause, ...between],
      ...[...moveTo(to_x, to_y), "sleep", dragPause, "mouseup", pressed],
    ];
    try {
      await this.#xdotool(steps, signal);
    } catch (error) {
      // Otherwise every later movement would be a drag.
      await this.desktop.run({ command: "xdotool", args: ["mouseup", pressed] }).catch(() => undefined);
      throw error;
    }
  }

  async scroll(request: AgentSchemas["MouseScrollRequest"], signal: AbortSignal): Promise<void> {
    const { x, y, delta_y, amount, direction = "down" } = request;
    if ((x === undefined) !== (y === undefined)) throw invalid("x and y are given together, or neither.");
    if (delta_y === undefined && amount === undefined)
      throw invalid("Say how far to scroll: amount or delta_y.");
    const notches = amount ?? Math.ceil(Math.abs(delta_y ?? 0) / pixelsPerNotch);
    const button = amount !== undefined ? wheel[direction] : wheel[(delta_y ?? 0) < 0 ? "up" : "down"];
    const clicks = notches === 0 ? [] : ["click", "--repeat", String(notches), "--delay", "5", button];
    const move = x === undefined || y === undefined ? [] : moveTo(x, y);
    if (move.length + clicks.length > 0) await this.#xdotool([...move, ...clicks], signal, notches * 10);
  }

  async type(
    { text, delay_ms = 0 }: AgentSchemas["KeyboardTypeRequest"],
    signal: AbortSignal,
  ): Promise<void> {
    const typed = text.replaceAll("\r\n", "\n");
    const control = /(?![\n\t])\p{Cc}/u.exec(typed);
    if (control) {
      const code = (control[0].codePointAt(0) ?? 0).toString(16).padStart(4, "0");
      throw invalid(
        `text has the control character U+${code} at position ${control.index}, which no key types.`,
        "Send keys such as Escape or ctrl+c with /desktop/keyboard/press.",
      );
    }
    const total = [...typed].length * delay_ms;
    if (total > longestTyping * 1000)
      throw invalid(
        `Typing this text would take ${Math.ceil(total / 1000)} s; ${longestTyping} s is the most.`,
        "Type it in pieces, with a smaller delay_ms, or set the clipboard and press ctrl+v.",
      );
    for await (const part of this.#spareKeys.parts(typed, signal)) {
      const args = ["type", "--delay", String(delay_ms), "--file", "-"];
      await this.#xdotool(args, signal, total + part.length, part);
    }
  }

  /** Presses keys together. Each may itself be a combination, such as `ctrl+c`. */
  async press(keys: readonly string[], signal: AbortSignal): Promise<void> {
    if (keys.length === 0) throw invalid("Name a key.");
    const combination = keys.map(keyNamed).join("+");
    await this.#xdotool(["key", "--", combination], signal);
  }

  async #xdotool(
    args: readonly string[],
    signal: AbortSignal,
    durationMs = 0,
    input?: string,
  ): Promise<void> {
    const timeoutMs = toolMarginMs + durationMs;
    const typed = input === undefined ? {} : { input };
    await this.desktop.tool({ command: "xdotool", args, timeoutMs, signal, ...typed }, unknownKey);
  }
}

const moveTo = (x: number, y: number): readonly string[] => ["mousemove", String(x), String(y)];

/** Names that people and models use, and X does not know. In lower case. */
const otherNames: Readonly<Record<string, string>> = {
  ...{ enter: "Return", return: "Return", esc: "Escape", escape: "Escape", tab: "Tab", space: "space" },
  ...{ backspace: "BackSpace", delete: "Delete", del: "Delete", insert: "Insert", home: "Home", end: "End" },
  ...{ pageup: "Prior", page_up: "Prior", pagedown: "Next", page_down: "Next" },
  ...{ up: "Up", down: "Down", left: "Left", right: "Right" },
  ...{ arrowup: "Up", arrowdown: "Down", arrowleft: "Left", arrowright: "Right" },
  ...{ control: "ctrl", option: "alt", cmd: "super", command: "super", win: "super" },
};

const otherName = (name: string): string | undefined =>
  Object.hasOwn(otherNames, name) ? otherNames[name] : undefined;

/** The name that X has for a key or a combination. A single character is named by its code, because X calls `/` `slash`. */
function keyNamed(key: string): string {
  if (/^[^A-Za-z0-9]$/u.test(key)) return `U${(key.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`;
  const names = key.split("+").map((part) => otherName(part.toLowerCase()) ?? part);
  // xdotool takes a number for the code of a key.
  for (const name of names) if (!/^\w+$/.test(name) || /^\d{2,}$/.test(name)) throw noSuchKey(name);
  return names.join("+");
}

/** xdotool ignores a key that it does not know, and succeeds. */
function unknownKey({ stderr }: ToolOutput): Problem | undefined {
  const [, name] = /No such key name '(.*)'/.exec(stderr) ?? [];
  return name === undefined ? undefined : noSuchKey(name);
}

const noSuchKey = (name: string): Problem =>
  invalid(
    `No keyboard has a key named ${JSON.stringify(name)}.`,
    "Use the names of X11, such as Return, Escape, F5, ctrl, or a single character.",
  );

function invalid(message: string, hint?: string): Problem {
  return new Problem(400, "INVALID_REQUEST", message, { hint });
}
