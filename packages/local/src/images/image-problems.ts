import { Problem } from "@cloud-sandbox/server-kit";

/** The refusal of an archive that is not an image, or not one that can be imported. */
export const invalidImage = (summary: string, hint?: string): Problem =>
  new Problem(400, "INVALID_REQUEST", summary, { hint: hint ?? howToMakeOne });

/** The refusal of an image that is larger than what it may take here. */
const imageTooLarge = (what: string, limit: number, unit: string): Problem =>
  new Problem(413, "PAYLOAD_TOO_LARGE", `The image is too large: ${what} more than ${shown(limit, unit)}.`, {
    hint: "Import a smaller image, or free disk space in the server's data directory: the limit is what is free there, less 1 GiB, and at most 32 GiB.",
  });

/** A part of the archive, as text that is safe to show. */
export function quoted(text: string): string {
  const short = text.length > 120 ? `${text.slice(0, 120)}…` : text;
  return JSON.stringify(short.replace(/[^\x20-\x7e…]/g, "?"));
}

const howToMakeOne =
  'Make the file with "docker save IMAGE --output image.tar", or with "skopeo copy docker://IMAGE oci-archive:image.tar".';

function shown(limit: number, unit: string): string {
  if (unit !== "bytes") return `${limit} ${unit}`;
  return limit < 2 ** 20 ? `${limit} bytes` : `${Math.floor(limit / 2 ** 20)} MiB`;
}

export interface ImageLimits {
  /** Bytes that the archive, and what is unpacked from it, may take on the disk together. */
  readonly bytes: number;
  /** Files, directories and links in all layers together. */
  readonly entries: number;
}

/** Counts what an image takes, and refuses it as soon as that is too much: an archive of some MiB may unpack to terabytes. */
export class Allowance {
  #bytes = 0;
  #entries = 0;

  constructor(private readonly limits: ImageLimits) {}

  takeBytes(count: number): void {
    this.#bytes += count;
    if (this.#bytes > this.limits.bytes)
      throw imageTooLarge("its archive and its files take", this.limits.bytes, "bytes");
  }

  takeEntry(): void {
    this.#entries += 1;
    if (this.#entries > this.limits.entries)
      throw imageTooLarge("its layers have", this.limits.entries, "files");
  }
}
