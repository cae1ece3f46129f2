import { localFailure, nodeModules } from "../config/node-modules.js";
import type { RichOutput } from "./execution-result.js";

/** What `data` is for the MIME types that code usually displays. */
export interface DisplayedData {
  /** base64. */
  "image/png": string;
  /** base64. */
  "image/jpeg": string;
  "image/svg+xml": string;
  "text/html": string;
  "text/markdown": string;
  "text/latex": string;
  "text/plain": string;
  /** A JSON value. */
  "application/json": unknown;
}

/** Something that code displayed: a figure, a table, a document. */
export class DisplayedValue<Type extends string = string> implements RichOutput {
  /** A MIME type. */
  readonly type: Type;
  /** base64 for images other than SVG, a JSON value for JSON, else text. */
  readonly data: Type extends keyof DisplayedData ? DisplayedData[Type] : unknown;

  /** @internal */
  static of(output: RichOutput): DisplayedValue {
    return new DisplayedValue(output.type, output.data);
  }

  private constructor(type: Type, data: unknown) {
    this.type = type;
    this.data = data as DisplayedValue<Type>["data"];
  }

  /** Whether it is of that type; its `data` is typed then. */
  is<Wanted extends keyof DisplayedData>(type: Wanted): this is DisplayedValue<Wanted> {
    return (this.type as string) === type;
  }

  /** As text: an image as its base64, JSON written out. */
  text(): string {
    return typeof this.data === "string" ? this.data : JSON.stringify(this.data);
  }

  /** As a file of its type holds it. */
  bytes(): Uint8Array {
    if (!isBase64(this.type)) return new TextEncoder().encode(this.text());
    return Uint8Array.from(atob(this.text().replaceAll(/\s/g, "")), (char) => char.charCodeAt(0));
  }

  /**
   * Writes it to a file of this machine, in place of one that is there; its directory must exist. Throws a
   * `ConfigurationError` where there are no files, as at the edge; a file that cannot be used rejects with code
   * LOCAL_FILE_FAILED.
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
