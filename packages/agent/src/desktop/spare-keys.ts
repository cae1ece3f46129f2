import { setTimeout as sleep } from "node:timers/promises";
import type { Desktop } from "./desktop.js";
import type { DisplayServer } from "./display-server.js";

/** Milliseconds that programs get to read what was typed, before a spare key becomes another character. */
const readPauseMs = 150;

/**
 * Puts characters that the keyboard's layout lacks onto keys that have none, and leaves them there. xdotool does so for each character
 * and takes it back at once: a program that is busy then finds nothing on the key.
 */
export class SpareKeys {
  #server: DisplayServer | undefined;
  #free: readonly number[] = [];
  /** The character of each key. */
  readonly #characters = new Map<number, string>();

  constructor(private readonly desktop: Desktop) {}

  /** Cuts a text into parts, none of which has more characters beyond ASCII than there are spare keys. */
  async *parts(text: string, signal: AbortSignal): AsyncGenerator<string> {
    if (/^[\n\t\x20-\x7e]*$/.test(text)) return yield text;
    await this.#find(signal);
    let part = "";
    let foreign = new Set<string>();
    for (const character of text) {
      const isForeign = !/[\n\t\x20-\x7e]/.test(character);
      if (isForeign && foreign.size === this.#free.length && !foreign.has(character)) {
        await this.#put(foreign, signal);
        yield part;
        await sleep(readPauseMs, undefined, { signal });
        part = "";
        foreign = new Set();
      }
      if (isForeign) foreign.add(character);
      part += character;
    }
    await this.#put(foreign, signal);
    yield part;
  }

  /** Finds the keys without a character, once for each X server. */
  async #find(signal: AbortSignal): Promise<void> {
    const server = await this.desktop.server();
    if (server === this.#server) return;
    const { stdout } = await this.desktop.tool({ command: "xmodmap", args: ["-pke"], signal });
    this.#free = [...stdout.toString().matchAll(/^keycode +(\d+) = *$/gm)].map(([, code]) => Number(code));
    this.#characters.clear();
    this.#server = server;
  }

  async #put(wanted: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    const known = new Set(this.#characters.values());
    const missing = [...wanted].filter((character) => !known.has(character));
    if (missing.length === 0) return;
    const usable = this.#free.filter((code) => !wanted.has(this.#characters.get(code) ?? ""));
    // Keys that never had a character come first: nobody has to read anything before they change.
    usable.sort((one, other) => Number(this.#characters.has(one)) - Number(this.#characters.has(other)));
    const lines = missing.map((character, index) => {
      const code = usable[index] ?? 0;
      this.#characters.set(code, character);
      const keysym = `U${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`;
      return `keycode ${code} = ${keysym} ${keysym}`;
    });
    await this.desktop.tool({ command: "xmodmap", args: ["-"], input: `${lines.join("\n")}\n`, signal });
  }
}
