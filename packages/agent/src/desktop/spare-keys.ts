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
  /** Names of the keys that had no character. */
  #spare: readonly string[] = [];
  /** The character of each spare key that has one, by its name. */
  readonly #characters = new Map<string, string>();

  constructor(private readonly desktop: Desktop) {}

  /** Cuts a text into parts, none of which has more characters beyond ASCII than there are spare keys. */
  async *parts(text: string, signal: AbortSignal): AsyncGenerator<string> {
    if (/^[\n\t\x20-\x7e]*$/.test(text)) return yield text;
    await this.#find(signal);
    let part = "";
    let foreign = new Set<string>();
    for (const character of text) {
      const isForeign = !/[\n\t\x20-\x7e]/.test(character);
      if (isForeign && foreign.size === this.#spare.length && !foreign.has(character)) {
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
    const layout = await this.#layout(server.display, signal);
    const used = new Set([...layout.matchAll(/^\s*key\s+<(\S+)>/gm)].map(([, name]) => name));
    const all = [...layout.matchAll(/^\s*<(\S+)> = \d+;$/gm)].map(([, name = ""]) => name);
    this.#spare = all.filter((name) => !used.has(name));
    this.#characters.clear();
    this.#server = server;
  }

  /** Gives the X server one new layout, because the window manager takes 20 ms of processor time for each change of a key. */
  async #put(wanted: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    const known = new Set(this.#characters.values());
    const missing = [...wanted].filter((character) => !known.has(character));
    if (missing.length === 0) return;
    const usable = this.#spare.filter((name) => !wanted.has(this.#characters.get(name) ?? ""));
    // Keys that never had a character come first: nobody has to read anything before they change.
    usable.sort((one, other) => Number(this.#characters.has(one)) - Number(this.#characters.has(other)));
    for (const [index, character] of missing.entries()) this.#characters.set(usable[index] ?? "", character);
    const keys = [...this.#characters].map(
      ([name, character]) => `key <${name}> { [ ${keysym(character)} ] };`,
    );
    const { display } = await this.desktop.server();
    // Read anew: programs in the sandbox may have chosen another layout.
    const own = new RegExp(`^\\s*key\\s+<(?:${this.#spare.join("|")})>\\s+\\{[^}]*\\};\n`, "gm");
    const layout = (await this.#layout(display, signal)).replace(own, "");
    const input = layout.replace(/^xkb_symbols .*\{$/m, (start) => `${start}\n${keys.join("\n")}`);
    await this.desktop.tool({ command: "xkbcomp", args: ["-w", "0", "-", `:${display}`], input, signal });
  }

  /** The layout of the keyboard, as xkbcomp writes it. */
  async #layout(display: number, signal: AbortSignal): Promise<string> {
    const args = ["-xkb", `:${display}`, "-"];
    return (await this.desktop.tool({ command: "xkbcomp", args, signal })).stdout.toString();
  }
}

const keysym = (character: string): string =>
  `U${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`;
