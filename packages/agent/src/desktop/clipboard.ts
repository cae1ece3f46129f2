import { setTimeout as sleep } from "node:timers/promises";
import { Problem } from "@cloud-sandbox/server-kit";
import type { Desktop } from "./desktop.js";

/** The most bytes of a text that are read or set, as in the contract. */
const longestText = 1024 * 1024;
/** What the history holds: texts, and characters of all together. */
const mostTexts = 20;
const historyLength = 1024 * 1024;
/** Milliseconds that the program which owns the clipboard may take to give its text. */
const ownerLimitMs = 3000;
/** Milliseconds after which a set text counts as replaced by another program. */
const takeLimitMs = 1000;

/** The clipboard of a desktop. Its text belongs to the program that set it, which hands it out when asked. */
export class Clipboard {
  /** The texts seen through this agent, the newest first. X itself keeps none. */
  readonly #history: string[] = [];

  constructor(private readonly desktop: Desktop) {}

  get history(): readonly string[] {
    return this.#history;
  }

  async text(signal: AbortSignal): Promise<string> {
    const text = await this.#read(signal);
    this.#remember(text);
    return text;
  }

  async #read(signal: AbortSignal): Promise<string> {
    await this.desktop.server();
    const { code, stdout, stderr } = await this.desktop.run({
      command: "xclip",
      args: ["-selection", "clipboard", "-o", "-t", "UTF8_STRING"],
      timeoutMs: ownerLimitMs,
      maxBytes: longestText,
      signal,
    });
    // Nobody has the clipboard, or what is in it is no text.
    if (code !== 0 && /target .* not available/i.test(stderr)) return "";
    if (code !== 0)
      throw new Problem(409, "DESKTOP_FAILED", "The program that owns the clipboard did not give its text.");
    return stdout.toString();
  }

  async set(text: string, signal: AbortSignal): Promise<void> {
    if (Buffer.byteLength(text) > longestText)
      throw new Problem(400, "PAYLOAD_TOO_LARGE", "A text in the clipboard can have 1 MiB.", {
        hint: "Write a longer text to a file.",
      });
    const args = ["-selection", "clipboard", "-i"];
    await this.desktop.tool({ command: "xclip", args, input: text, signal, staysBehind: true });
    // xclip goes to the background before it owns the clipboard.
    const deadline = Date.now() + takeLimitMs;
    while ((await this.#read(signal)) !== text && Date.now() < deadline)
      await sleep(10, undefined, { signal });
    this.#remember(text);
  }

  #remember(text: string): void {
    if (text === "" || text === this.#history[0]) return;
    this.#history.unshift(text);
    const length = () => this.#history.reduce((sum, one) => sum + one.length, 0);
    while (this.#history.length > mostTexts || length() > historyLength) this.#history.pop();
  }
}
