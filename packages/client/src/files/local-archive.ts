import { localFailure, nodeModules } from "../config/node-modules.js";
import { CallbackErrors } from "../errors/callback-errors.js";
import { AbortError, invalidArgument } from "../errors/errors.js";
import type { SkippedEntries } from "./skipped-entries.js";

/** A local file or directory, and its name in the archive. */
export interface ArchiveSource {
  /** Path on this machine. */
  path: string;
  /** Path in the archive, with slashes; `.` is the root of the archive. */
  name: string;
}

export interface PackOptions {
  /** Returns true for names (paths in the archive) to leave out; leaving out a directory leaves out its contents. */
  exclude?: ((name: string) => boolean) | undefined;
  signal?: AbortSignal | undefined;
  /** Where to name what cannot be packed; the rest is packed. Default: such an entry is an error. */
  skipped?: SkippedEntries | undefined;
}

export interface LocalArchive {
  /** SHA-256, in hexadecimal, of the names, types, modes, link targets and contents. Dates do not change it. */
  hash: string;
  /** Bytes of the gzipped tar. */
  size: number;
}

/**
 * Packs files and directories, recursively, into a gzipped tar. Uses constant memory and reads each file once. Symbolic
 * links are kept as links. Throws for anything but files, directories and links, unless `skipped` takes them.
 */
export async function packArchive(
  sources: readonly ArchiveSource[],
  target: string,
  { exclude = () => false, signal, skipped }: PackOptions = {},
): Promise<LocalArchive> {
  const { crypto, fs, stream, streams, zlib } = nodeModules();
  const { createTarPacker } = await import("./tar-packer.js");
  const { controller, readable } = createTarPacker();
  const hash = crypto.createHash("sha256");
  const own = new CallbackErrors();
  const pack = async (): Promise<void> => {
    for await (const { path, ...entry } of entriesOf(sources, own.of(exclude), skipped)) {
      const { linkname, mode, name, size, type } = entry;
      // Opened before its header is written, which says that its content follows.
      const file = type === "file" ? await unlessOdd(fs.promises.open(path), name, skipped) : undefined;
      try {
        if (type === "file" && file === undefined) continue;
        hash.update(`${JSON.stringify([name, type, mode, linkname ?? size])}\n`);
        const writer = controller.add(entry).getWriter();
        if (file !== undefined) {
          const content = crypto.createHash("sha256");
          // A file that grows meanwhile is packed as long as it was.
          const end = Math.max(size - 1, 0);
          for await (const chunk of size === 0 ? [] : file.createReadStream({ end, autoClose: false })) {
            content.update(chunk);
            await writer.write(chunk);
          }
          hash.update(content.digest());
        }
        await writer.close();
      } finally {
        await file?.close();
      }
    }
    controller.finalize();
  };
  const packing = pack().catch((error: unknown) => {
    controller.error(error);
    throw error;
  });
  const output = [
    stream.Readable.fromWeb(readable),
    zlib.createGzip(),
    fs.createWriteStream(target),
  ] as const;
  const writing = streams.pipeline(...output, signal === undefined ? {} : { signal });
  const [packed, written] = await Promise.allSettled([packing, writing]);
  if (signal?.aborted) throw new AbortError(signal.reason);
  if (packed.status === "rejected") throw own.or(localFailure(packed.reason));
  if (written.status === "rejected") throw localFailure(written.reason);
  return { hash: hash.digest("hex"), size: (await fs.promises.stat(target)).size };
}

interface Entry {
  path: string;
  name: string;
  type: "directory" | "file" | "symlink";
  mode: number;
  mtime: Date;
  size: number;
  linkname?: string;
}

/** Yields each directory's entries sorted by name, so that the same files give the same archive hash. */
async function* entriesOf(
  sources: readonly ArchiveSource[],
  exclude: (name: string) => boolean,
  skipped: SkippedEntries | undefined,
): AsyncGenerator<Entry, void, undefined> {
  const { fs, path } = nodeModules();
  for (const source of sources) {
    const { name } = source;
    if (name !== "." && exclude(name)) continue;
    // Only what is below a source may be left out.
    const mayLack = sources.length === 1 && name === "." ? undefined : skipped;
    const status = await unlessOdd(fs.promises.lstat(source.path), name, mayLack);
    if (status === undefined) continue;
    const mode = status.mode & 0o777;
    // Raise dates before 1970 to 1970: the tar format cannot hold them.
    const mtime = new Date(Math.max(0, status.mtimeMs));
    if (status.isSymbolicLink()) {
      const linkname = await unlessOdd(fs.promises.readlink(source.path), name, skipped);
      if (linkname === undefined) continue;
      yield { path: source.path, name, type: "symlink", mode: 0o777, mtime, size: 0, linkname };
    } else if (status.isFile()) {
      yield { path: source.path, name, type: "file", mode, mtime, size: status.size };
    } else if (status.isDirectory()) {
      if (name !== ".")
        yield { path: source.path, name: `${name}/`, type: "directory", mode, mtime, size: 0 };
      const names = await unlessOdd(fs.promises.readdir(source.path, "buffer"), name, mayLack);
      const within = (names ?? []).flatMap((bytes) => {
        const child = bytes.toString();
        const whole = name === "." ? child : `${name}/${child}`;
        if (bytes.equals(Buffer.from(child))) return { path: path.join(source.path, child), name: whole };
        leaveOut(whole, "its name is not UTF-8", skipped);
        return [];
      });
      within.sort((one, other) => (one.name < other.name ? -1 : 1));
      yield* entriesOf(within, exclude, skipped);
    } else {
      leaveOut(name, "it is neither a file nor a directory nor a link", skipped);
    }
  }
}

function leaveOut(name: string, reason: string, skipped: SkippedEntries | undefined): void {
  if (skipped === undefined) throw invalidArgument(`${name} cannot be packed: ${reason}.`);
  skipped.add(name, reason);
}

/** Waits for an access to an entry. Undefined if the entry may not be read, or is gone, and `skipped` takes it. */
async function unlessOdd<Result>(
  access: Promise<Result>,
  name: string,
  skipped: SkippedEntries | undefined,
): Promise<Result | undefined> {
  try {
    return await access;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    const reason = unreadable[code];
    if (skipped === undefined || reason === undefined) throw error;
    skipped.add(name, reason);
    return undefined;
  }
}

const unreadable: Readonly<Record<string, string>> = {
  EACCES: "it may not be read",
  EPERM: "it may not be read",
  ENOENT: "it does not exist any more",
};
