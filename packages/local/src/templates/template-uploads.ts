import { createHash, randomBytes } from "node:crypto";
import { createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Problem } from "@cloud-sandbox/server-kit";
import { invalidBuild } from "@cloud-sandbox/server-kit/handlers";
import { InstanceDirectory } from "../runtime/host/instance-directory.js";
import { isUnwritable, storageFull } from "../store/storage-problem.js";

const lifetimeMs = 60 * 60_000;
const mebibyte = 1024 * 1024;
const largest = 512 * mebibyte;
const keptBytes = 2048 * mebibyte;
const grantLimit = 1000;
const patienceBytes = 16 * mebibyte;

export interface Archive {
  /** A gzipped tar that nobody has looked into; machines get copies of their own. */
  readonly path: string;
  readonly size: number;
  /** Of its content. The hash that it came under says less: clients leave the content of directories out of it. */
  readonly digest: string;
}

/** Archives for COPY steps: announced, then sent to an address with a grant in it, and kept as long as this process. */
export class TemplateUploads {
  /** By the digest of what was granted, so that how long a look takes says nothing. */
  readonly #grants = new Map<string, { hash: string; length: number; expiresAt: number }>();
  readonly #archives = new Map<string, Archive>();
  /** How many builds need an archive that perhaps nobody else will find. */
  readonly #held = new Map<Archive, number>();
  #directory: Promise<string> | undefined;

  /** Permission to send the files of this hash, once or again, for an hour. Those given before go on. */
  grant(hash: string, length: number): { grant: string; expiresAt: Date } {
    if (length > largest)
      throw invalidBuild(`The files of a COPY step may take at most ${largest / mebibyte} MiB packed.`);
    const grant = randomBytes(32).toString("base64url");
    const expiresAt = Date.now() + lifetimeMs;
    this.#grants.set(digestOf(grant), { hash, length, expiresAt });
    const oldest = this.#grants.keys().next();
    if (this.#grants.size > grantLimit && !oldest.done) this.#grants.delete(oldest.value);
    return { grant, expiresAt: new Date(expiresAt) };
  }

  async receive(hash: string, grant: string, body: Readable): Promise<Archive> {
    const granted = this.#grants.get(digestOf(grant));
    if (granted?.hash !== hash)
      throw new Problem(
        401,
        "INVALID_TOKEN",
        "This address was not given for these files. Ask for an upload link.",
      );
    if (granted.expiresAt < Date.now())
      throw new Problem(410, "TOKEN_EXPIRED", "This upload link has expired. Ask for another.");
    const directory = await this.#ready();
    const path = join(directory, `${digestOf(hash)}-${randomBytes(6).toString("hex")}`);
    const meter = new Meter(granted.length);
    try {
      await pipeline(body, meter, createWriteStream(`${path}.partial`, { mode: 0o600 }));
      await rename(`${path}.partial`, path);
    } catch (error) {
      await rm(`${path}.partial`, { force: true });
      if (isUnwritable(error)) throw storageFull(error);
      throw error;
    }
    const archive = { path, size: meter.size, digest: meter.digest() };
    const replaced = this.#archives.get(hash);
    this.#archives.delete(hash);
    this.#archives.set(hash, archive);
    if (replaced) await this.#remove(replaced);
    await this.#shrink();
    return archive;
  }

  /** Keeps archives from being removed, until what is returned is called. */
  hold(archives: Iterable<Archive>): () => Promise<void> {
    const held = [...archives];
    for (const archive of held) this.#held.set(archive, (this.#held.get(archive) ?? 0) + 1);
    return async () => {
      for (const archive of held) await this.#letGo(archive);
    };
  }

  find(hash: string): Archive | undefined {
    return this.#archives.get(hash);
  }

  async close(): Promise<void> {
    if (this.#directory !== undefined) await rm(await this.#directory, { recursive: true, force: true });
  }

  async #shrink(): Promise<void> {
    let size = [...this.#archives.values()].reduce((sum, archive) => sum + archive.size, 0);
    for (const [hash, archive] of this.#archives) {
      if (size <= keptBytes) return;
      size -= archive.size;
      this.#archives.delete(hash);
      await this.#remove(archive);
    }
  }

  async #letGo(archive: Archive): Promise<void> {
    const others = (this.#held.get(archive) ?? 0) - 1;
    if (others > 0) this.#held.set(archive, others);
    else this.#held.delete(archive);
    if (![...this.#archives.values()].includes(archive)) await this.#remove(archive);
  }

  async #remove(archive: Archive): Promise<void> {
    if (!this.#held.has(archive)) await rm(archive.path, { force: true });
  }

  #ready(): Promise<string> {
    this.#directory ??= InstanceDirectory.createPrivate();
    return this.#directory;
  }
}

const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex");

const tooMuch = (limit: number): Problem =>
  invalidBuild(`More was sent than the ${limit} bytes of content_length that were announced.`);

/** Lets pass what is gzip, and no more than was announced. */
class Meter extends Transform {
  readonly #hash = createHash("sha256");
  #start = Buffer.alloc(0);
  size = 0;

  constructor(private readonly limit: number) {
    super();
  }

  digest(): string {
    return this.#hash.digest("hex");
  }

  override _transform(
    chunk: Buffer,
    _encoding: BufferEncoding,
    done: (error?: Error | null, data?: Buffer) => void,
  ): void {
    this.size += chunk.length;
    if (this.#start.length < 2)
      this.#start = Buffer.concat([this.#start, chunk.subarray(0, 2)]).subarray(0, 2);
    this.#hash.update(chunk);
    // A little more is read and dropped, so that its sender gets to read why.
    if (this.size > this.limit + patienceBytes) done(tooMuch(this.limit));
    else if (this.size > this.limit) done();
    else done(null, chunk);
  }

  override _flush(done: (error?: Error | null) => void): void {
    const isGzip = this.#start[0] === 0x1f && this.#start[1] === 0x8b;
    if (this.size > this.limit) done(tooMuch(this.limit));
    else
      done(
        isGzip ? null : invalidBuild("The files of a COPY step are sent as a gzipped tar; this is not gzip."),
      );
  }
}
