import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  opendirSync,
  openSync,
  readdirSync,
  readlinkSync,
} from "node:fs";
import { directoryItself } from "../runtime/host/open-below.js";
import { type BytePath, bytesOf } from "./byte-path.js";

/**
 * A directory that stays open. Its entries are reached through its descriptor, one name at a time and without following links, so
 * that nobody who swaps a directory for a link meanwhile leads elsewhere. Synchronous: handing each of these calls to another
 * thread takes ten times as long, and the programs that use it have nothing else to do.
 */
export class OpenDirectory {
  private constructor(private readonly fd: number) {}

  /** Opens a directory by its path. A link at the path's end is refused. */
  static open(path: BytePath): OpenDirectory {
    return new OpenDirectory(openSync(bytesOf(path), directoryItself));
  }

  /** A directory in this one. Throws ENOTDIR if it is a link or a file. */
  directory(name: BytePath): OpenDirectory {
    return new OpenDirectory(openSync(this.at(name), directoryItself));
  }

  names(): BytePath[] {
    return readdirSync(this.#path, { encoding: "latin1" });
  }

  /** Names of its entries but for some, read only as far as they are taken. */
  *namesBesides(others: ReadonlySet<BytePath>): Generator<BytePath> {
    const entries = opendirSync(this.#path, { encoding: "latin1" as BufferEncoding });
    try {
      for (let entry = entries.readSync(); entry; entry = entries.readSync())
        if (!others.has(entry.name)) yield entry.name;
    } finally {
      entries.closeSync();
    }
  }

  /** The entry itself. Undefined if there is none. */
  entry(name: BytePath): BigIntStats | undefined {
    return lstatSync(this.at(name), { bigint: true, throwIfNoEntry: false });
  }

  linkTarget(name: BytePath): BytePath {
    return readlinkSync(this.at(name), { encoding: "latin1" });
  }

  /** The directory itself. */
  status(): BigIntStats {
    return fstatSync(this.fd, { bigint: true });
  }

  /** Writes the directory's list of entries to the disk. */
  sync(): void {
    // The descriptor itself is only a place in the file system, which cannot be synced.
    const readable = openSync(`${this.#path}/.`, constants.O_RDONLY | constants.O_DIRECTORY);
    try {
      fsyncSync(readable);
    } finally {
      closeSync(readable);
    }
  }

  /** The path of an entry, for calls that do not follow a link at its end. */
  at(name: BytePath): Buffer {
    return bytesOf(`${this.#path}/${name}`);
  }

  close(): void {
    closeSync(this.fd);
  }

  get #path(): string {
    return `/proc/self/fd/${this.fd}`;
  }
}
