import { localFailure, nodeModules } from "../config/node-modules.js";
import { CallbackErrors } from "../errors/callback-errors.js";
import { AbortError, invalidArgument } from "../errors/errors.js";

/** What goes into an archive. */
export interface ArchiveSource {
  /** On this machine. */
  path: string;
  /** In the archive, with slashes; `.` is the archive itself. */
  name: string;
}

export interface PackOptions {
  /** Leaves out the entries, by their names in the archive, for which it gives true; of a directory, all that it holds. */
  exclude?: ((name: string) => boolean) | undefined;
  signal?: AbortSignal | undefined;
}

export interface LocalArchive {
  /** SHA-256, in hexadecimal, of the names, modes and contents of what is in it, and of nothing else. */
  hash: string;
  /** Bytes of the gzipped tar. */
  size: number;
}

/**
 * Packs files and directories, with all they hold, as a gzipped tar: in constant memory, and each file read once. Links are
 * kept as links; what is neither file, directory nor link is refused.
 */
export async function packArchive(
  sources: readonly ArchiveSource[],
  target: string,
  { exclude = () => false, signal }: PackOptions = {},
): Promise<LocalArchive> {
  const { crypto, fs, stream, streams, zlib } = nodeModules();
  const { createTarPacker } = await import("modern-tar");
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

/** In the order of their names, so that the same files are the same archive. */
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
    // A tar has none before 1970.
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
