import { localFailure, nodeModules } from "../config/node-modules.js";
import type { RichOutput } from "./execution-result.js";

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

/** A value that code displayed: a figure, a table, a document. */
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
    return typeof this.data === "string" ? this.data : JSON.stringify(this.data);
  }

  /** The value as the bytes of a file of its type. */
  bytes(): Uint8Array {
    if (!isBase64(this.type)) return new TextEncoder().encode(this.text());
    return Uint8Array.from(atob(this.text().replaceAll(/\s/g, "")), (char) => char.charCodeAt(0));
  }

  /**
   * Saves the value to a file on this machine, replacing an existing file; the directory must exist. Throws a
   * `ConfigurationError` in runtimes without a file system, such as edge runtimes. Rejects with code LOCAL_FILE_FAILED if
   * the file cannot be written.
   */
  async saveTo(path: string): Promise<void> {
    const { fs } = nodeModules();
    const bytes = this.bytes();
    await fs.promises.writeFile(path, bytes).catch((error: unknown) => {
      throw localFailure(error);
    });
  }
}

function isBase64(type: string): boolean {
  return /^(image|audio|video)\/(?!svg)/.test(type) || type === "application/pdf";
}
