import { limits } from "@cloud-sandbox/protocol/limits";
import type { Outcome, RichOutput } from "../handlers/agent/outcome.js";

const {
  displayedBytes: mostBytes,
  displayedValues: mostValues,
  exceptionCharacters: longestException,
} = limits;
const longestResult = 4 * 1024 * 1024;

/**
 * The values that an execution displayed, its result and its exception, as a driver reports them. Their number and size
 * are limited; further values are only counted.
 */
export class DisplayedValues {
  readonly #values: RichOutput[] = [];
  #bytes = 0;
  #dropped = 0;
  #result: string | undefined;
  #exception: Outcome["exception"];

  /** Adds a displayed value. The payload is a MIME type, a null byte and the data as text. */
  display(payload: Buffer): void {
    const end = payload.indexOf(0);
    const size = payload.length - end - 1;
    if (end <= 0 || this.#values.length >= mostValues || this.#bytes + size > mostBytes) {
      this.#dropped += 1;
      return;
    }
    this.#bytes += size;
    this.#values.push(richOutput(payload.toString("utf8", 0, end), payload.toString("utf8", end + 1)));
  }

  /** Records the value of the last expression, as text. */
  result(payload: Buffer): void {
    this.#result = payload.toString("utf8", 0, longestResult);
  }

  /** Records the exception that ended the code: the name of its class, its message and its traceback, each after a null byte. */
  exception(payload: Buffer): void {
    const [name = "", value = "", traceback = ""] = payload
      .toString()
      .split("\0", 3)
      .map((text) => text.slice(0, longestException));
    this.#exception = { name, value, traceback };
  }

  /** The fields of the outcome. `droppedBefore` counts displayed values that the driver itself left out. */
  fields(droppedBefore: number) {
    const dropped = this.#dropped + droppedBefore;
    return {
      displays: this.#values,
      ...(this.#result !== undefined && { result: this.#result }),
      ...(this.#exception !== undefined && { exception: this.#exception }),
      ...(dropped > 0 && { displaysDropped: dropped }),
    };
  }
}

function richOutput(type: string, text: string): RichOutput {
  if (type === "application/json" || type.endsWith("+json")) return jsonOutput(type, text);
  if (type.startsWith("image/") && type !== "image/svg+xml")
    return { type, format: "base64", data: text, metadata: { size: Buffer.byteLength(text, "base64") } };
  return { type, format: formats[type] ?? "text", data: text };
}

const formats: Readonly<Record<string, string>> = {
  "text/html": "html",
  "text/markdown": "markdown",
  "text/latex": "latex",
  "image/svg+xml": "svg",
};

function jsonOutput(type: string, text: string): RichOutput {
  try {
    return { type, format: "json", data: JSON.parse(text) };
  } catch {
    // The code declared the value as JSON, but it does not parse: return it as text.
    return { type, format: "text", data: text };
  }
}
