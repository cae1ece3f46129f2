import { createHash } from "node:crypto";
import { closeSync, createReadStream, openSync, type ReadStream, writeSync } from "node:fs";
import { open, readFile } from "node:fs/promises";
import { join, posix } from "node:path";
import type { Readable, Transform } from "node:stream";
import { createGunzip } from "node:zlib";
import { type Allowance, invalidImage, quoted } from "./image-problems.js";
import { type ContentSink, compressionOf, readTar, type TarEntry } from "./read-tar.js";

const mostMembers = 20_000;
const mostDocumentBytes = 4 * 1024 * 1024;

interface Member {
  readonly path: string;
  readonly size: number;
  readonly digest: string;
}

/**
 * The members of an image's archive: what `docker save` writes, or an OCI image layout. They are kept as files with names of
 * this server's own, because an archive may name its index last.
 */
export class ImageArchive {
  readonly #members = new Map<string, Member>();
  /** Older versions of `docker save` write a layer that two images share once, and links to it. */
  readonly #links = new Map<string, string>();
  #count = 0;

  private constructor(
    private readonly directory: string,
    private readonly allowance: Allowance,
  ) {}

  /** Reads an archive into the directory. The whole archive may be gzipped. */
  static async receive(body: Readable, directory: string, allowance: Allowance): Promise<ImageArchive> {
    const archive = new ImageArchive(directory, allowance);
    await readTar(unpacked(body), "The file", (entry) => archive.#take(entry));
    return archive;
  }

  has(name: string): boolean {
    return this.#find(name) !== undefined;
  }

  /** Reads a JSON file of the archive. With `digest`, checks it. */
  async document(name: string, digest?: string): Promise<unknown> {
    const member = this.#require(name, digest);
    if (member.size > mostDocumentBytes)
      throw invalidImage(`${quoted(name)} in the file is larger than ${mostDocumentBytes} bytes.`);
    const text = await readFile(member.path, "utf8");
    try {
      return JSON.parse(text) as unknown;
    } catch {
      throw invalidImage(`${quoted(name)} in the file is not JSON.`);
    }
  }

  /** The first bytes of a file of the archive. With `digest`, checks it. */
  async start(name: string, digest: string | undefined): Promise<Buffer> {
    const file = await open(this.#require(name, digest).path);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(8), 0, 8, 0);
      return buffer.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  }

  open(name: string): ReadStream {
    return createReadStream(this.#require(name, undefined).path, { highWaterMark: 256 * 1024 });
  }

  #take({ path, type, size, linkTarget }: TarEntry): ContentSink | undefined {
    const name = posix.normalize(path).replace(/^\.?\/+|\/+$/g, "");
    if (type === "Directory") return undefined;
    this.#count += 1;
    if (this.#count > mostMembers)
      throw invalidImage(`The file is not an image: it has more than ${mostMembers} entries.`);
    if (type === "SymbolicLink" || type === "Link") {
      const from = type === "Link" ? "" : posix.dirname(name);
      this.#links.set(name, posix.join(from, linkTarget));
      return undefined;
    }
    // Names are only compared, never used as paths.
    if (!["File", "OldFile", "ContiguousFile"].includes(type)) return undefined;
    const target = join(this.directory, String(this.#count));
    const file = openSync(target, "wx", 0o600);
    const hash = createHash("sha256");
    let isOpen = true;
    const close = (): void => {
      if (isOpen) closeSync(file);
      isOpen = false;
    };
    return {
      write: (chunk) => {
        this.allowance.takeBytes(chunk.length);
        hash.update(chunk);
        for (let at = 0; at < chunk.length; ) at += writeSync(file, chunk, at, chunk.length - at);
      },
      end: () => {
        close();
        this.#members.set(name, { path: target, size, digest: `sha256:${hash.digest("hex")}` });
      },
      close,
    };
  }

  #find(name: string): Member | undefined {
    const member = this.#members.get(name);
    return member ?? this.#members.get(this.#links.get(name) ?? "");
  }

  #require(name: string, digest: string | undefined): Member {
    const member = this.#find(name);
    if (member === undefined)
      throw invalidImage(`The file names ${quoted(name)} and does not contain it: it is incomplete.`);
    if (digest !== undefined && member.digest !== digest)
      throw invalidImage(
        `${quoted(name)} in the file is not what the image says: its digest is ${member.digest}, not ${quoted(digest)}.`,
        "Make the file again: this one is damaged.",
      );
    return member;
  }
}

/** The stream, unzipped if it is gzip. */
async function* unpacked(body: Readable): AsyncGenerator<Buffer> {
  let first: Buffer | undefined;
  const rest = body[Symbol.asyncIterator]() as AsyncIterableIterator<Buffer>;
  while ((first?.length ?? 0) < 4) {
    const { done, value } = await rest.next();
    if (done) break;
    first = first === undefined ? value : Buffer.concat([first, value]);
  }
  if (first === undefined || first.length === 0) throw invalidImage("The file is empty.");
  const start = first;
  async function* whole(): AsyncGenerator<Buffer> {
    yield start;
    yield* rest;
  }
  const compression = compressionOf(start);
  if (compression === "gzip") yield* through(whole(), createGunzip());
  else if (compression === undefined) yield* whole();
  else throw invalidImage("The file is compressed with zstd.", "Unpack it with zstd -d first.");
}

/** Yields the output of `transform` for `source`. An error of either ends both. */
export async function* through(source: AsyncIterable<Buffer>, transform: Transform): AsyncGenerator<Buffer> {
  const { pipeline } = await import("node:stream/promises");
  const done = pipeline(source, transform);
  // Reading the transform reports the same error.
  done.catch(() => undefined);
  try {
    yield* transform as AsyncIterable<Buffer>;
  } finally {
    transform.destroy();
  }
}
