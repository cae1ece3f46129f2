import type { SavedFile } from "./saved-file.js";

/** A value that code displayed, as `type` and `data` alone. */
export interface RichOutput {
  /** MIME type: `image/png`, `text/html`, `application/json`, `image/svg+xml`, `text/markdown`, … */
  type: string;
  /** Base64 for images other than SVG, a JSON value for JSON, otherwise text. */
  data: unknown;
}

/** Type of `data` for the most frequent MIME types. */
export interface DisplayedData {
  /** Base64. */
  "image/png": string;
  /** Base64. */
  "image/jpeg": string;
  "image/svg+xml": string;
  "text/html": string;
  "text/markdown": string;
  "text/latex": string;
  "text/plain": string;
  /** A JSON value. */
  "application/json": unknown;
}

/** A value that code displayed: a plot, a table, a document. */
export class DisplayedValue<Type extends string = string> implements RichOutput {
  /** MIME type. */
  readonly type: Type;
  /** Base64 for images other than SVG, a JSON value for JSON, otherwise text. */
  readonly data: Type extends keyof DisplayedData ? DisplayedData[Type] : unknown;

  /** @internal */
  static of(output: RichOutput): DisplayedValue {
    return new DisplayedValue(output.type, output.data);
  }

  private constructor(type: Type, data: unknown) {
    this.type = type;
    this.data = data as DisplayedValue<Type>["data"];
  }

  /** Whether the value has this MIME type. Narrows the type of `data`. */
  is<Wanted extends keyof DisplayedData>(type: Wanted): this is DisplayedValue<Wanted> {
    return (this.type as string) === type;
  }

  /** The value as text: base64 of an image, JSON text of a JSON value. */
  text(): string {
    return typeof this.data === "string" && !isJson(this.type) ? this.data : JSON.stringify(this.data);
  }

  /** The value as the bytes of a file of its type. */
  bytes(): Uint8Array {
    if (!isBase64(this.type)) return new TextEncoder().encode(this.text());
    return Uint8Array.from(atob(this.text().replaceAll(/\s/g, "")), (char) => char.charCodeAt(0));
  }

  /**
   * Saves the value on this machine, as a file of its type: the image, the document, the text, the JSON. `path` is the
   * file's own path: an existing file is replaced, its directory must exist. Rejects with code LOCAL_FILE_FAILED if the
   * file cannot be written, also if `path` is a directory. Works on Node.js, Deno and Bun; elsewhere rejects with a
   * `ConfigurationError` (LOCAL_FILES_UNAVAILABLE), and `bytes()` has the contents.
   */
  async saveTo(path: string): Promise<SavedFile> {
    const { saveBytes } = await import("./saved-file.js");
    return saveBytes(path, this.bytes());
  }
}

function isBase64(type: string): boolean {
  return /^(image|audio|video)\/(?!svg)/.test(type) || type === "application/pdf";
}

function isJson(type: string): boolean {
  return /[/+]json$/.test(type);
}
