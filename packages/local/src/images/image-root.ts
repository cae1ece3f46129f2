import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  futimesSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  type Stats,
  symlinkSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { invalidImage, quoted } from "./image-problems.js";
import type { ContentSink, TarEntry } from "./read-tar.js";

const mostLinks = 40;
/** Everybody may read and write: a sandbox has one user, with a uid that is another one each time. */
const forAll = 0o666;

/**
 * The files of an image on this machine. Nothing is ever written outside its directory: a path is followed name by name, as
 * in a `chroot`, so an absolute link means a place in the image, and a link that leads above the root is refused. Nobody
 * else changes the directory meanwhile, so what was found at a name is still there when it is used.
 */
export class ImageRoot {
  /** Locations in the layer being applied. Its whiteouts do not hide them. */
  #fresh = new Set<string>();
  /** Directories that were found to be directories, and not links. */
  readonly #directories = new Set<string>();

  #layer = "The image";

  constructor(readonly path: string) {
    this.#directories.add(path);
  }

  /** Begins a layer: what exists now can be hidden by it. `name` is for errors. */
  beginLayer(name: string): void {
    this.#layer = name;
    this.#fresh = new Set();
  }

  /** Makes the entry. Returns where its content goes; undefined if it has none, or was left out. */
  add({ path, type, mode, modified, linkTarget }: TarEntry): { sink?: ContentSink; isLeftOut?: boolean } {
    const names = this.#names(path);
    const name = names.pop();
    if (name === undefined) return {};
    if (name.startsWith(".wh.")) {
      this.#whiteout(names, name, path);
      return {};
    }
    if (type === "CharacterDevice" || type === "BlockDevice" || type === "FIFO") return { isLeftOut: true };
    const parent = this.#directory(names, path, true);
    const location = join(parent, name);
    this.#note(location);
    switch (type) {
      case "Directory":
      case "GNUDumpDir":
        this.#makeDirectory(location);
        return {};
      case "SymbolicLink":
        this.#clear(location);
        symlinkSync(linkTarget, location);
        return {};
      case "Link": {
        const target = this.#existing(linkTarget, path);
        if (target === location) return {};
        this.#clear(location);
        linkSync(target, location);
        return {};
      }
      default:
        this.#clear(location);
        return { sink: newFile(location, mode, modified) };
    }
  }

  /** The status of the file at this path of the image. The last name is not followed if it is a link. */
  status(path: string): Stats | undefined {
    const location = this.#locate(path);
    return location === undefined ? undefined : statusOf(location);
  }

  /** Reads a file of the image through links; undefined if there is none. */
  readText(path: string): string | undefined {
    const found = this.#follow(this.#names(path), path);
    const status = found === undefined ? undefined : statusOf(found);
    return found !== undefined && status?.isFile() && status.size < 1024 * 1024
      ? readFileSync(found, "utf8")
      : undefined;
  }

  /** Makes the file, in place of anything that is at its path. */
  writeText(path: string, text: string): void {
    const { sink } = this.add({
      path,
      type: "File",
      size: 0,
      mode: 0o644,
      modified: undefined,
      linkTarget: "",
    });
    sink?.write(Buffer.from(text));
    sink?.end();
  }

  /** Makes a directory, and those above it, behind the links of its path. */
  makeDirectory(path: string): void {
    this.#directory(this.#names(path), path, true);
  }

  /** Makes a real directory, in place of a link or a file at any part of its path. */
  requireDirectory(path: string): void {
    let location = this.path;
    for (const name of this.#names(path)) {
      location = join(location, name);
      this.#makeDirectory(location);
    }
  }

  #names(path: string): string[] {
    if (path.startsWith("/"))
      throw invalidImage(`${this.#layer} has a file with an absolute name: ${quoted(path)}.`);
    const names = path.split("/").filter((name) => name !== "" && name !== ".");
    if (names.includes(".."))
      throw invalidImage(`${this.#layer} has a file that leads out of it: ${quoted(path)}.`);
    if (path.includes("\0")) throw invalidImage(`${this.#layer} has a file with an invalid name.`);
    return names;
  }

  /** The real directory that the names lead to, made where it is missing. */
  #directory(names: readonly string[], path: string, make: true): string;
  #directory(names: readonly string[], path: string, make: false): string | undefined;
  #directory(names: readonly string[], path: string, make: boolean): string | undefined {
    let at: string[] = [];
    const rest = [...names];
    for (let links = 0; rest.length > 0; ) {
      const name = rest.shift() ?? "";
      if (name === "" || name === ".") continue;
      if (name === "..") {
        if (at.pop() === undefined)
          throw invalidImage(
            `${this.#layer} has a file behind a link that leads out of it: ${quoted(path)}.`,
          );
        continue;
      }
      const location = join(this.path, ...at, name);
      const status = this.#directories.has(location) ? "directory" : kindOf(location);
      if (status === "link") {
        links += 1;
        if (links > mostLinks)
          throw invalidImage(`${this.#layer} has a file behind too many links: ${quoted(path)}.`);
        const target = readlinkSync(location);
        if (target.startsWith("/")) at = [];
        rest.unshift(...target.split("/"));
        continue;
      }
      if (status === "other")
        throw invalidImage(
          `${this.#layer} has a file below another one, which is no directory: ${quoted(path)}.`,
        );
      if (status === undefined) {
        if (!make) return undefined;
        this.#makeDirectory(location);
      }
      if (make) this.#note(location);
      this.#directories.add(location);
      at.push(name);
    }
    return join(this.path, ...at);
  }

  #locate(path: string): string | undefined {
    const names = this.#names(path);
    const name = names.pop();
    const parent = this.#directory(names, path, false);
    return parent === undefined || name === undefined ? parent : join(parent, name);
  }

  /** The location of a file, through links. */
  #follow(names: readonly string[], path: string, links = 0): string | undefined {
    const parent = this.#directory(names.slice(0, -1), path, false);
    if (parent === undefined) return undefined;
    const location = join(parent, names.at(-1) ?? "");
    if (kindOf(location) !== "link") return location;
    if (links >= mostLinks) return undefined;
    const target = readlinkSync(location).split("/");
    const above = target[0] === "" ? [] : parent.slice(this.path.length).split("/");
    const next: string[] = [];
    for (const name of [...above, ...target]) {
      if (name === "..") next.pop();
      else if (name !== "" && name !== ".") next.push(name);
    }
    return this.#follow(next, path, links + 1);
  }

  /** The file that a hard link names. */
  #existing(target: string, path: string): string {
    // Some tools write hard links' targets from the root.
    const location = this.#locate(target.replace(/^\/+/, ""));
    const kind = location === undefined ? undefined : kindOf(location);
    if (location === undefined || kind === undefined || kind === "directory")
      throw invalidImage(`${this.#layer} has a hard link to a file that is not there: ${quoted(path)}.`);
    return location;
  }

  #makeDirectory(location: string): void {
    const kind = kindOf(location);
    if (kind !== undefined && kind !== "directory") rmSync(location);
    if (kind !== "directory") {
      mkdirSync(location);
      chmodSync(location, 0o777);
    }
    this.#directories.add(location);
  }

  /** Removes what is at the location. */
  #clear(location: string): void {
    const kind = kindOf(location);
    if (kind === undefined) return;
    rmSync(location, { recursive: true });
    // Directories below it are among those that are known. They are found out again: to look for them each time would take long.
    if (kind === "directory") this.#directories.clear();
  }

  #note(location: string): void {
    this.#fresh.add(location);
  }

  /** Removes what a whiteout hides: one name of the layers below, or all names of a directory. */
  #whiteout(names: readonly string[], name: string, path: string): void {
    const hidden = name.slice(".wh.".length);
    const isOpaque = hidden === ".wh..opq";
    // Other names with two marks are notes of the file system that first had whiteouts.
    if (hidden.startsWith(".wh.") && !isOpaque) return;
    if (["", ".", ".."].includes(hidden))
      throw invalidImage(`${this.#layer} has an invalid whiteout: ${quoted(path)}.`);
    const parent = this.#directory(names, path, false);
    if (parent === undefined) return;
    if (isOpaque) for (const child of readdirSync(parent)) this.#hide(join(parent, child));
    else this.#hide(join(parent, hidden));
  }

  #hide(location: string): void {
    if (this.#fresh.has(location)) {
      if (kindOf(location) === "directory")
        for (const child of readdirSync(location)) this.#hide(join(location, child));
      return;
    }
    this.#clear(location);
  }
}

function newFile(location: string, mode: number, modified: Date | undefined): ContentSink {
  const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
  let file: number | undefined = openSync(location, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  const close = (): void => {
    if (file !== undefined) closeSync(file);
    file = undefined;
  };
  return {
    write(chunk) {
      for (let at = 0; file !== undefined && at < chunk.length; )
        at += writeSync(file, chunk, at, chunk.length - at);
    },
    end() {
      if (file === undefined) return;
      // No program gains rights by its mode: the bits for that are left out.
      fchmodSync(file, (mode & 0o777) | forAll | ((mode & 0o111) === 0 ? 0 : 0o111));
      // Python compares its compiled files with the time of the source.
      if (modified !== undefined && isTime(modified)) futimesSync(file, modified, modified);
      close();
    },
    close,
  };
}

/** Whether file systems have such a time: from 1970, in 32 bits without a sign. */
const isTime = (time: Date): boolean => time.getTime() >= 0 && time.getTime() / 1000 < 2 ** 32;

type Kind = "directory" | "link" | "file" | "other";

function kindOf(location: string): Exclude<Kind, "file"> | undefined {
  const status = statusOf(location);
  if (status === undefined) return undefined;
  if (status.isDirectory()) return "directory";
  return status.isSymbolicLink() ? "link" : "other";
}

function statusOf(location: string): Stats | undefined {
  return lstatSync(location, { throwIfNoEntry: false });
}
