import type { AgentAccess } from "../agent/agent-access.js";
import {
  type CallOptions,
  callInit,
  callOptionNames,
  checkKnown,
  checkWhole,
  margin,
  omitUndefined,
  requestInit,
  requireText,
} from "../config/options.js";
import { invalidArgument } from "../errors/errors.js";
import { successOf } from "../transport/contract-clients.js";

/** Options of `keyboard.type`. */
export interface TypingOptions extends CallOptions {
  /** Milliseconds between two keys, 0 to 1000. */
  delayMs?: number | undefined;
}

/** The keyboard of a desktop. Keys have X11 names: `Return`, `Tab`, `F5`, `ctrl`, … */
export class Keyboard {
  readonly #access: AgentAccess;

  /** @internal */
  static of(access: AgentAccess): Keyboard {
    return new Keyboard(access);
  }

  private constructor(access: AgentAccess) {
    this.#access = access;
  }

  /** Types text (POST /desktop/keyboard/type). */
  async type(text: string, options: TypingOptions = {}): Promise<void> {
    checkKnown("keyboard.type", options, { ...callOptionNames, delayMs: true });
    if (typeof text !== "string" || text.length > longestTyping)
      throw invalidArgument(`text must be a string of at most ${longestTyping} characters.`);
    checkWhole("delayMs", options.delayMs, 0, 1000);
    const { delayMs } = options;
    const seconds = delayMs ? (text.length * delayMs) / 1000 + margin : undefined;
    const body = { text, ...omitUndefined({ delay_ms: delayMs }) };
    await successOf(
      this.#access.client.POST("/desktop/keyboard/type", { body, ...requestInit(options, seconds) }),
    );
  }

  /** Presses one key (POST /desktop/keyboard/press). */
  async press(key: string, options?: CallOptions): Promise<void> {
    requireText("key", key);
    const body = { key };
    await successOf(this.#access.client.POST("/desktop/keyboard/press", { body, ...callInit(options) }));
  }

  /** Presses several keys together, such as `["ctrl", "c"]` (POST /desktop/keyboard/combination). */
  async combination(keys: readonly string[], options?: CallOptions): Promise<void> {
    checkKeys("keys", keys);
    const body = { keys: [...keys], modifiers: keys.slice(0, -1), key: keys.at(-1) ?? "" };
    await successOf(
      this.#access.client.POST("/desktop/keyboard/combination", { body, ...callInit(options) }),
    );
  }

  /** Presses a hotkey of the desktop (POST /desktop/x11/hotkey). */
  async hotkey(modifiers: readonly string[], key: string, options?: CallOptions): Promise<void> {
    checkKeys("modifiers", modifiers);
    requireText("key", key);
    const body = { modifiers: [...modifiers], key };
    await successOf(this.#access.client.POST("/desktop/x11/hotkey", { body, ...callInit(options) }));
  }
}

const longestTyping = 100_000;

function checkKeys(name: string, keys: unknown): void {
  const isList =
    Array.isArray(keys) && keys.length > 0 && keys.every((key) => typeof key === "string" && key !== "");
  if (!isList) throw invalidArgument(`${name} must be a list of keys, such as ["ctrl", "c"].`);
}
