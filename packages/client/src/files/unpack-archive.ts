import { nodeModules } from "../config/node-modules.js";
import type { SkippedEntries } from "./skipped-entries.js";

/** An entry of an archive, as far as it matters here. */
interface Header {
  readonly name: string;
  readonly type?: string | undefined;
  readonly linkname?: string | undefined;
  readonly mtime?: Date | undefined;
}

/** Stands for a backslash in names while they are unpacked, because modern-tar takes a backslash for a slash. */
const hiddenBackslash = "\uf05c";
/** Most symbolic links on the way to one file, as in the kernel. */
const mostLinks = 40;
/** Most characters of a path, as in the kernel. */
const longestPath = 4095;

const kinds: Readonly<Record<string, string>> = {
  fifo: "it is a pipe",
  "character-device": "it is a device",
  "block-device": "it is a device",
};

/**
 * Decides what of an archive is unpacked. The archive is hostile: code in the sandbox has made it. Directories, files and hard
 * links to them are left to modern-tar, which keeps them in the directory. Symbolic links are made here, after everything else,
 * so that nothing is written through them; those that lead out of the directory are left out.
 */
export class ArchiveSelection {
  /** Files and directories, by their names with hidden backslashes. */
  readonly #taken = new Map<string, { readonly isFile: boolean; readonly name: string }>();
  readonly #links = new Map<string, { readonly target: string; readonly mtime: Date | undefined }>();
  /** The last part of each name with a backslash in it, by its whole path with hidden ones. */
  readonly #renamed = new Map<string, string>();

  constructor(private readonly skipped: SkippedEntries) {}

  /** Whether modern-tar unpacks an entry. */
  readonly takes = (header: Header): boolean => {
    const parts = partsOf(header.name);
    const name = parts.join("/");
    // Of a link that has two names, the archive has one as a hard link to the other.
    const same =
      header.type === "link" ? this.#links.get(partsOf(header.linkname ?? "").join("/")) : undefined;
    if (same !== undefined) return this.takes({ ...header, type: "symlink", linkname: same.target });
    const reason = this.#obstacle(header, parts);
    if (reason !== undefined) this.skipped.add(name === "" ? header.name : name, reason);
    else if (header.type === "symlink")
      this.#links.set(name, { target: header.linkname ?? "", mtime: header.mtime });
    else {
      this.#taken.set(hidden(name), { isFile: header.type !== "directory", name });
      for (const [index, part] of parts.entries())
        if (part.includes("\\")) this.#renamed.set(hidden(parts.slice(0, index + 1).join("/")), part);
      return true;
    }
    return false;
  };

  /** The entry under the name that it has until `finish`. */
  readonly hide = <Entry extends Header>(header: Entry): Entry => ({
    ...header,
    // Without the dot, a name such as "a:b" would lose its beginning.
    name: `./${hidden(partsOf(header.name).join("/"))}`,
    ...(header.type === "link" && { linkname: hidden(partsOf(header.linkname ?? "").join("/")) }),
  });

  /** Gives the entries that were unpacked into `local` their own names, and makes the links. */
  async finish(local: string): Promise<void> {
    const root = await nodeModules().fs.promises.realpath(local);
    await this.#rename(root);
    for (const name of this.#links.keys()) {
      const target = this.#links.get(name)?.target ?? "";
      if (await this.#leadsOut(root, name, target)) {
        this.skipped.add(name, `it is a link to ${target}, which is not in the directory`, { isLink: true });
        continue;
      }
      const reason = await this.#link(root, name);
      if (reason !== undefined) this.skipped.add(name, reason);
    }
  }

  #obstacle({ linkname = "", type = "file" }: Header, parts: readonly string[]): string | undefined {
    const name = parts.join("/");
    if (parts.includes("..")) return "its name leads out of the directory";
    if (name.includes("\ufffd")) return "its name is not UTF-8";
    if (nodeModules().path.sep === "\\" && /[<>:"|?*\\]/.test(name))
      return "its name is not possible on this system";
    if (type === "symlink") return name === "" ? "it has no name" : undefined;
    if (type !== "file" && type !== "directory" && type !== "link")
      return kinds[type] ?? "it is neither a file nor a directory nor a link";
    const isFile = type !== "directory";
    if (isFile && name === "") return "it has no name";
    const there = this.#taken.get(hidden(name));
    if (there !== undefined && (there.isFile !== isFile || there.name !== name))
      return "another entry has its name";
    if (parts.some((_, end) => end > 0 && this.#taken.get(hidden(parts.slice(0, end).join("/")))?.isFile))
      return "another entry has the name of its directory";
    if (type === "link" && this.#taken.get(hidden(partsOf(linkname).join("/")))?.isFile !== true)
      return "it is a hard link to something that was not copied";
    return undefined;
  }

  async #rename(root: string): Promise<void> {
    const { fs, path } = nodeModules();
    const depth = (name: string): number => name.split("/").length;
    for (const [name, last] of [...this.#renamed].sort(([one], [other]) => depth(other) - depth(one))) {
      const from = path.join(root, name);
      try {
        await moveInto(from, path.join(path.dirname(from), last));
      } catch {
        await fs.promises.rm(from, { recursive: true, force: true });
        this.skipped.add(name.replaceAll(hiddenBackslash, "\\"), "something else here has its name");
      }
    }
  }

  /** Makes a link. Returns why it was not made. */
  async #link(root: string, name: string): Promise<string | undefined> {
    const { fs, path } = nodeModules();
    const { lstat, lutimes, realpath, rm, symlink } = fs.promises;
    const { mtime, target } = this.#links.get(name) ?? { target: "" };
    const at = path.join(root, name);
    const directory = path.dirname(at);
    if ((await realpath(directory).catch(() => undefined)) !== directory)
      return "its directory was not copied, or is a link";
    if ((await lstat(at).catch(() => undefined))?.isDirectory()) return "a directory here has its name";
    try {
      await rm(at, { force: true });
      await symlink(target, at);
      if (mtime !== undefined) await lutimes(at, mtime, mtime);
      return undefined;
    } catch (error) {
      return `the link cannot be made (${error instanceof Error ? error.message : error})`;
    }
  }

  /**
   * Whether a link leads out of the directory, followed as the kernel does it. Links of the archive count whether or not they
   * are made, and `..` only behind a directory that exists: a name that does not exist may become a link later.
   */
  async #leadsOut(root: string, name: string, target: string): Promise<boolean> {
    const { fs, path } = nodeModules();
    if (path.isAbsolute(target) || target.length > longestPath) return true;
    const at = name.split("/").slice(0, -1);
    const left = target.split("/").reverse();
    for (let followed = 0; left.length > 0; ) {
      const part = left.pop() ?? "";
      if (part === "" || part === ".") continue;
      const here = (): string => path.join(root, ...at);
      if (part === "..") {
        const status = await fs.promises.lstat(here()).catch(() => undefined);
        if (at.pop() === undefined || status?.isDirectory() !== true) return true;
        continue;
      }
      at.push(part);
      const own = this.#links.get(at.join("/"))?.target;
      const next = own ?? (await fs.promises.readlink(here()).catch(() => undefined));
      if (next === undefined) continue;
      followed += 1;
      if (path.isAbsolute(next) || next.length > longestPath || followed > mostLinks) return true;
      at.pop();
      left.push(...next.split("/").reverse());
    }
    return false;
  }
}

/** Moves a file, or what is in a directory into the one that is there. */
async function moveInto(from: string, to: string): Promise<void> {
  const { fs, path } = nodeModules();
  const { lstat, readdir, rename, rmdir } = fs.promises;
  try {
    await rename(from, to);
  } catch (error) {
    if (!(await lstat(from)).isDirectory() || !(await lstat(to)).isDirectory()) throw error;
    for (const name of await readdir(from)) await moveInto(path.join(from, name), path.join(to, name));
    await rmdir(from);
  }
}

const partsOf = (name: string): string[] => name.split("/").filter((part) => part !== "" && part !== ".");

const hidden = (name: string): string => name.replaceAll("\\", hiddenBackslash);
