import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { PassThrough, type Readable } from "node:stream";
import type { PrivateDirectory } from "../machine/private-directory.js";
import { programIdentity } from "../machine/program-identity.js";

const keptErrorOutput = 2048;

/**
 * The directories whose files outlive a machine, as a tar stream out of one and into the next. Made and read in here,
 * where a link leads no further than the sandbox itself.
 */
export class FileArchive {
  readonly #trees: readonly string[];

  constructor(
    directories: readonly string[],
    /** Of no use to the next agent. */
    private readonly excluded: PrivateDirectory,
  ) {
    this.#trees = directories.map(withoutSlash);
  }

  /** Streams the trees. The stream fails when they could not be read to their end. */
  async save(): Promise<Readable> {
    // What its owner may not read would be left out; it comes back readable.
    await finished(
      spawn(
        "find",
        [
          ...this.#trees.map((tree) => `/${tree}`),
          ...[
            "-xdev",
            "(",
            "-type",
            "d",
            "!",
            "-perm",
            "-u+rwx",
            "-o",
            "-type",
            "f",
            "!",
            "-perm",
            "-u+r",
            ")",
          ],
          ...["-exec", "chmod", "u+rwX", "{}", ";"],
        ],
        { ...programIdentity(), stdio: ["ignore", "ignore", "pipe"] },
      ),
    );
    const tar = spawn(
      "tar",
      [
        ...["--create", "--sparse", "--one-file-system", "--warning=no-file-ignored", "--directory=/"],
        `--exclude=${withoutSlash(await this.excluded.path())}`,
        ...["--null", "--verbatim-files-from", "--files-from=-"],
      ],
      { ...programIdentity(), stdio: ["pipe", "pipe", "pipe"] },
    );
    // Told by its end.
    tar.stdin.on("error", () => undefined);
    tar.stdin.end(await this.#entries());
    const archive = new PassThrough();
    const ended = finished(tar);
    tar.stdout.pipe(archive, { end: false });
    archive.once("close", () => tar.kill("SIGKILL"));
    ended.then(
      () => archive.end(),
      (error: Error) => archive.destroy(error),
    );
    return archive;
  }

  /** What is in the trees, not they themselves: a machine has its own, whose owner and mode are not ours to change. */
  async #entries(): Promise<Buffer> {
    const names = await Promise.all(
      this.#trees.map(async (tree) =>
        (await readdir(`/${tree}`, { encoding: "latin1" })).map((name) => `${tree}/${name}`),
      ),
    );
    return Buffer.from(names.flat().join("\0"), "latin1");
  }

  /** Unpacks what {@link save} gave. */
  async restore(archive: Readable): Promise<void> {
    const tar = spawn(
      "tar",
      [
        "--extract",
        "--directory=/",
        "--preserve-permissions",
        "--no-same-owner",
        "--delay-directory-restore",
      ],
      { ...programIdentity(), stdio: ["pipe", "ignore", "pipe"] },
    );
    // Its end is behind the last thing that tar has to know, which may stop reading before.
    tar.stdin.on("error", () => undefined);
    archive.once("error", () => tar.kill("SIGKILL"));
    archive.pipe(tar.stdin);
    await finished(tar).finally(() => archive.unpipe().resume());
  }
}

/** Resolves when the program has done its work; 1 is tar's word for a file that changed meanwhile. */
async function finished(child: ChildProcess): Promise<void> {
  let said = "";
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    said = (said + chunk).slice(-keptErrorOutput);
  });
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0 && code !== 1) throw new Error(said.trim() || `${child.spawnfile} ended with ${code}`);
}

const withoutSlash = (path: string): string => path.replace(/^\/+|\/+$/g, "");
