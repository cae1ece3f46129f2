import { imageTooLarge } from "./image-problems.js";

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
