import { createHash, randomBytes } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Problem } from "@cloud-sandbox/server-kit";
import { invalidBuild } from "@cloud-sandbox/server-kit/handlers";
import { LazyDirectory } from "../store/lazy-directory.js";
import { isUnwritable, storageFull } from "../store/storage-problem.js";

const lifetimeMs = 60 * 60_000;
const mebibyte = 1024 * 1024;
const maxArchiveBytes = 512 * mebibyte;
const maxKeptBytes = 2048 * mebibyte;
const grantLimit = 1000;
/** Bytes beyond the announced length that are read and dropped, so that the sender can read the refusal. */
const maxExcessBytes = 16 * mebibyte;

export interface Archive {
  /** A gzipped tar, never unpacked on the host. */
  readonly path: string;
  readonly size: number;
  /** SHA-256 of the archive. The client's `filesHash` is weaker: it leaves out the content of directories. */
  readonly digest: string;
}

/** Archives for COPY steps. A client announces an archive and uploads it to a link with a secret grant. Archives are kept until the server ends. */
export class TemplateUploads {
  /** Uploads by the digest of their grant, so that the time of a lookup reveals nothing about the grant. */
  readonly #grants = new Map<string, { hash: string; length: number; expiresAt: number }>();
  readonly #archives = new Map<string, Archive>();
  /** The number of builds that use an archive, which may have been replaced or evicted since. */
  readonly #held = new Map<Archive, number>();
  readonly #directory: LazyDirectory;

  constructor(
    /** Finds the directory of the archives, which ends with the server, when it is first needed. */
    directory: () => Promise<string>,
  ) {
    this.#directory = new LazyDirectory(directory);
  }

  /** Grants uploads of the files with this hash for an hour. Earlier grants stay valid. */
  grant(hash: string, length: number): { grant: string; expiresAt: Date } {
    if (length > maxArchiveBytes)
      throw invalidBuild(
        `The files of a COPY step may take at most ${maxArchiveBytes / mebibyte} MiB packed. Copy fewer files, or split the step.`,
      );
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
      throw new Problem(401, "INVALID_TOKEN", "This upload link is not valid for these files.", {
        hint: "Ask for a new upload link.",
      });
    if (granted.expiresAt < Date.now())
      throw new Problem(410, "TOKEN_EXPIRED", "This upload link has expired.", {
        hint: "Ask for a new upload link.",
      });
    const directory = await this.#directory.ready();
    const path = join(directory, `${digestOf(hash)}-${randomBytes(6).toString("hex")}`);
    const check = new UploadCheck(granted.length);
    try {
      // Opened first: a stream that is ended while it opens its file would make the file after it was removed.
      await using file = await open(`${path}.partial`, "w", 0o600);
      await pipeline(body, check, file.createWriteStream());
      await rename(`${path}.partial`, path);
    } catch (error) {
      await rm(`${path}.partial`, { force: true });
      if (isUnwritable(error)) throw storageFull(error);
      throw error;
    }
    const archive = { path, size: check.size, digest: check.digest() };
    const replaced = this.#archives.get(hash);
    this.#archives.delete(hash);
    this.#archives.set(hash, archive);
    if (replaced) await this.#remove(replaced);
    await this.#evictOldest();
    return archive;
  }

  /** Protects archives from removal until the returned function is called. */
  hold(archives: Iterable<Archive>): () => Promise<void> {
    const held = [...archives];
    for (const archive of held) this.#held.set(archive, (this.#held.get(archive) ?? 0) + 1);
    return async () => {
      for (const archive of held) await this.#release(archive);
    };
  }

  find(hash: string): Archive | undefined {
    return this.#archives.get(hash);
  }

  async #evictOldest(): Promise<void> {
    let size = [...this.#archives.values()].reduce((sum, archive) => sum + archive.size, 0);
    for (const [hash, archive] of this.#archives) {
      if (size <= maxKeptBytes) return;
      size -= archive.size;
      this.#archives.delete(hash);
      await this.#remove(archive);
    }
  }

  async #release(archive: Archive): Promise<void> {
    const others = (this.#held.get(archive) ?? 0) - 1;
    if (others > 0) this.#held.set(archive, others);
    else this.#held.delete(archive);
    if (![...this.#archives.values()].includes(archive)) await this.#remove(archive);
  }

  async #remove(archive: Archive): Promise<void> {
    if (!this.#held.has(archive)) await rm(archive.path, { force: true });
  }
}

const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex");

const longerThanAnnounced = (limit: number): Problem =>
  invalidBuild(`The upload is longer than the ${limit} bytes that its content_length announced.`);

/** Passes an upload through: counts and digests it, and fails unless it is gzip of at most the announced length. */
class UploadCheck extends Transform {
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
    if (this.size > this.limit + maxExcessBytes) done(longerThanAnnounced(this.limit));
    else if (this.size > this.limit) done();
    else done(null, chunk);
  }

  override _flush(done: (error?: Error | null) => void): void {
    const isGzip = this.#start[0] === 0x1f && this.#start[1] === 0x8b;
    if (this.size > this.limit) done(longerThanAnnounced(this.limit));
    else
      done(
        isGzip
          ? null
          : invalidBuild("The upload is not gzip. Send the files of a COPY step as a gzipped tar."),
      );
  }
}
