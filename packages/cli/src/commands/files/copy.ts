import { createWriteStream } from "node:fs";
import { mkdir, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, posix } from "node:path";
import { pipeline } from "node:stream/promises";
import { isSandboxError, type Sandbox, type SkippedEntry, type TransferProgress } from "cloud-sandbox";
import { answered } from "../../connection/answered.js";
import { CommandError } from "../../errors/command-error.js";
import type { Output } from "../../output/output.js";

/** A copy that was made. */
export interface Copied {
  /** Where it is. */
  readonly path: string;
  /** What of a directory was not copied. */
  readonly skipped: readonly SkippedEntry[];
}

/** Copies files and directories between this machine and one sandbox. */
export class Copying {
  constructor(
    private readonly sandbox: Sandbox,
    private readonly output: Output,
    private readonly signal: AbortSignal,
  ) {}

  /** Copies a local file or directory, or standard input (`-`), to a path in the sandbox. */
  async upload(local: string, path: string): Promise<Copied> {
    const { files } = this.sandbox;
    const options = { signal: this.signal, onProgress: this.#progressOf(local) };
    if (local === "-") {
      const whole = path.endsWith("/") ? undefined : path;
      if (whole === undefined || (await this.#isDirectory(path)))
        throw new CommandError("USAGE", "Standard input has no name.", "Give the path of the file to write.");
      await this.#throughFile(async (file) => files.upload(file, whole, options));
      return { path: whole, skipped: [] };
    }
    const isDirectory = (await this.#local(local)).isDirectory();
    // As with cp: `directory/.` means its contents.
    const name = isDirectory && /(^|\/)\.\/?$/.test(local) ? "" : basename(local);
    const isInside = path.endsWith("/") || (await this.#isDirectory(path));
    const target = isInside ? posix.join(path, name) : path;
    if (isDirectory) return { path: target, ...(await files.uploadDirectory(local, target, options)) };
    await files.upload(local, target, options);
    return { path: target, skipped: [] };
  }

  /** Copies a file or directory of the sandbox to a local path, or a file to standard output (`-`). */
  async download(path: string, local: string): Promise<Copied> {
    const { files } = this.sandbox;
    const { signal } = this;
    const { isDirectory } = await files.stat(path, { signal });
    if (local === "-") {
      if (isDirectory)
        throw new CommandError("USAGE", `${path} is a directory.`, "Give a local directory to copy it to.");
      await this.print(path);
      return { path: local, skipped: [] };
    }
    const name = isDirectory && /(^|\/)\.\/?$/.test(path) ? "" : posix.basename(path);
    const isInside = local.endsWith("/") || (await isLocalDirectory(local));
    const target = isInside ? join(local, name) : local;
    const options = { signal, onProgress: this.#progressOf(path) };
    if (isDirectory) {
      await makeDirectory(target);
      return { path: target, ...(await files.downloadDirectory(path, target, options)) };
    }
    if (isInside) await makeDirectory(local);
    await files.download(path, target, options);
    return { path: target, skipped: [] };
  }

  /** Writes a file of the sandbox to standard output, in constant memory. */
  async print(path: string): Promise<void> {
    const { signal } = this;
    const init = { params: { query: { path } }, parseAs: "stream", signal } as const;
    const answer = await this.sandbox.agent.GET("/files/download", init);
    // An empty file is an answer without a body.
    if (answer.error === undefined && answer.data === undefined) return;
    const body: unknown = answered(answer);
    if (body instanceof ReadableStream) await pipeline(body, process.stdout, { end: false, signal });
  }

  /** Shows how far a transfer is, ten times a second: it is told of each piece, of which a large file has thousands. */
  #progressOf(name: string): ((progress: TransferProgress) => void) | undefined {
    if (!this.output.showsProgress) return undefined;
    let shownAt = Number.NEGATIVE_INFINITY;
    return ({ bytes, total }) => {
      const now = performance.now();
      if (now - shownAt < 100 && bytes !== total) return;
      shownAt = now;
      const share = total === undefined || total === 0 ? "" : `, ${Math.floor((bytes / total) * 100)} %`;
      this.output.progress(`${basename(name)}: ${(bytes / 1024 ** 2).toFixed(1)} MiB${share}`);
    };
  }

  async #isDirectory(path: string): Promise<boolean> {
    try {
      return (await this.sandbox.files.stat(path, { signal: this.signal })).isDirectory;
    } catch (error) {
      if (isSandboxError(error) && /NOT_FOUND$/.test(error.code)) return false;
      throw error;
    }
  }

  async #local(path: string) {
    try {
      return await stat(path);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      throw new CommandError(
        "LOCAL_FILE_UNREADABLE",
        code === "ENOENT" ? `${path} does not exist.` : `${path} cannot be read (${code}).`,
        "Check the path and its permissions.",
      );
    }
  }

  /** Keeps standard input in a file, because its size must be known before it is sent. */
  async #throughFile(send: (path: string) => Promise<unknown>): Promise<void> {
    const directory = await mkdtemp(join(tmpdir(), "cloud-sandbox-"));
    try {
      const file = join(directory, "input");
      await pipeline(process.stdin, createWriteStream(file, { mode: 0o600 }), { signal: this.signal });
      await send(file);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  }
}

async function makeDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reason = code === "EEXIST" || code === "ENOTDIR" ? "a file is in its place" : String(code);
    throw new CommandError(
      "LOCAL_DIRECTORY_UNUSABLE",
      `The directory ${path} cannot be made: ${reason}.`,
      "Choose another path, or remove what is there.",
    );
  }
}

async function isLocalDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}
