import { localFailure, nodeModules } from "../config/node-modules.js";
import { CallbackErrors } from "../errors/callback-errors.js";
import { AbortError, invalidArgument } from "../errors/errors.js";

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
}

export interface LocalArchive {
  /** SHA-256, in hexadecimal, of the names, types, modes, link targets and contents. Dates do not change it. */
  hash: string;
  /** Bytes of the gzipped tar. */
  size: number;
}

/**
 * Packs files and directories, recursively, into a gzipped tar. Uses constant memory and reads each file once. Symbolic
 * links are kept as links; throws for anything but files, directories and links.
 */
export async function packArchive(
  sources: readonly ArchiveSource[],
  target: string,
  { exclude = () => false, signal }: PackOptions = {},
): Promise<LocalArchive> {
  const { crypto, fs, stream, streams, zlib } = nodeModules();
  const { createTarPacker } = await import("./tar-packer.js");
  const { controller, readable } = createTarPacker();
  const hash = crypto.createHash("sha256");
  const own = new CallbackErrors();
  const pack = async (): Promise<void> => {
    for await (const { path, ...entry } of entriesOf(sources, own.of(exclude))) {
      const { linkname, mode, name, size, type } = entry;
      hash.update(`${JSON.stringify([name, type, mode, linkname ?? size])}\n`);
      const writer = controller.add(entry).getWriter();
      if (type === "file") {
        const content = crypto.createHash("sha256");
        for await (const chunk of fs.createReadStream(path)) {
          content.update(chunk);
          await writer.write(chunk);
        }
        hash.update(content.digest());
      }
      await writer.close();
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
): AsyncGenerator<Entry, void, undefined> {
  const { fs, path } = nodeModules();
  for (const source of sources) {
    const { name } = source;
    if (name !== "." && exclude(name)) continue;
    const status = await fs.promises.lstat(source.path);
    const mode = status.mode & 0o777;
    // Raise dates before 1970 to 1970: the tar format cannot hold them.
    const mtime = new Date(Math.max(0, status.mtimeMs));
    if (status.isSymbolicLink()) {
      const linkname = await fs.promises.readlink(source.path);
      yield { path: source.path, name, type: "symlink", mode: 0o777, mtime, size: 0, linkname };
    } else if (status.isFile()) {
      yield { path: source.path, name, type: "file", mode, mtime, size: status.size };
    } else if (status.isDirectory()) {
      if (name !== ".")
        yield { path: source.path, name: `${name}/`, type: "directory", mode, mtime, size: 0 };
      const names = (await fs.promises.readdir(source.path)).sort();
      const within = names.map((child) => ({
        path: path.join(source.path, child),
        name: name === "." ? child : `${name}/${child}`,
      }));
      yield* entriesOf(within, exclude);
    } else {
      throw invalidArgument(`${source.path} is neither a file nor a directory nor a link.`);
    }
  }
}
