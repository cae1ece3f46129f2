/** The content of a file: bytes in memory, or a `Blob` that is read while it is sent. */
export type Content = Uint8Array | Blob;

/**
 * A multipart form with files, of known length. Files are referenced, not copied. Replaces `FormData`, because undici
 * accepts only its own class of it.
 */
export class MultipartForm {
  readonly contentType: string;
  /** Size in bytes. */
  readonly size: number;
  readonly parts: readonly Content[];

  constructor(entries: Iterable<[string, string | Content]>) {
    const boundary = `----cloud-sandbox-${globalThis.crypto.randomUUID()}`;
    const parts: Content[] = [];
    let text = "";
    for (const [name, value] of entries) {
      text += `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"`;
      if (typeof value === "string") {
        text += `\r\n\r\n${value}\r\n`;
        continue;
      }
      text += `; filename="${quoted(nameOf(value))}"\r\nContent-Type: ${typeOf(value)}\r\n\r\n`;
      parts.push(encoder.encode(text), value);
      text = "\r\n";
    }
    parts.push(encoder.encode(`${text}--${boundary}--\r\n`));
    this.contentType = `multipart/form-data; boundary=${boundary}`;
    this.size = parts.reduce((sum, part) => sum + sizeOf(part), 0);
    this.parts = parts;
  }
}

/** Size in bytes. */
export function sizeOf(content: Content): number {
  return content instanceof Blob ? content.size : content.byteLength;
}

const encoder = new TextEncoder();

function nameOf(file: Content): string {
  return "name" in file && typeof file.name === "string" ? file.name : "blob";
}

function typeOf(file: Content): string {
  return file instanceof Blob && file.type !== "" ? file.type : "application/octet-stream";
}

/** Escapes a name as browsers do. */
function quoted(text: string): string {
  return text.replaceAll("\n", "%0A").replaceAll("\r", "%0D").replaceAll('"', "%22");
}
