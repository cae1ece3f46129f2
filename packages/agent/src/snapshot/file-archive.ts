import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { PassThrough, type Readable } from "node:stream";
import type { PrivateDirectory } from "../machine/private-directory.js";
import { asProgram } from "../machine/program-identity.js";
import type { HomeFiles } from "./home-files.js";

const keptErrorOutput = 2048;

/**
 * Saves the sandbox's directories as a tar stream, and restores them in its next machine. tar runs inside the sandbox,
 * where a symbolic link cannot lead outside it.
 */
export class FileArchive {
  readonly #trees: readonly string[];

  constructor(
    directories: readonly string[],
    /** The agent's temporary directory, left out because the next agent cannot use it. */
    private readonly excluded: PrivateDirectory,
    /** Paths that are mounted from outside. They are left out too, because they are not the sandbox's own. */
    private readonly mounts: readonly string[] = [],
    private readonly homeFiles?: HomeFiles,
  ) {
    this.#trees = directories.filter((directory) => !mounts.includes(directory)).map(withoutSlash);
  }

  /**
   * Streams the directories as tar. The stream fails if they could not be read completely. If the sandbox is live, files that are
   * removed meanwhile are left out.
   */
  async save({ isLive }: { readonly isLive: boolean }): Promise<Readable> {
    // Make every directory and file readable for its owner first: tar runs as the owner and would leave out unreadable
    // files. They stay readable after a restore.
    const find = call("find", [
      ...this.#trees.map((tree) => `/${tree}`),
      "-xdev",
      ...this.mounts.flatMap((path) => ["-path", path, "-prune", "-o"]),
      ...["(", "-type", "d", "!", "-perm", "-u+rwx", "-o", "-type", "f", "!", "-perm", "-u+r", ")"],
      ...["-exec", "chmod", "u+rwX", "{}", ";"],
    ]);
    const finding = spawn(find.file, find.args, { ...find.identity, stdio: ["ignore", "ignore", "pipe"] });
    await finished(finding, "find");
    const { file, args, identity } = call("tar", [
      ...["--create", "--sparse", "--one-file-system", "--warning=no-file-ignored", "--directory=/"],
      // With all digits of times, by which comparisons know what has not changed.
      ...["--format=posix", "--pax-option=delete=atime,delete=ctime"],
      ...(isLive ? ["--ignore-failed-read"] : []),
      "--anchored",
      ...[await this.excluded.path(), ...this.mounts].map((path) => `--exclude=${withoutSlash(path)}`),
      ...["--null", "--verbatim-files-from", "--files-from=-"],
    ]);
    const tar = spawn(file, args, { ...identity, stdio: ["pipe", "pipe", "pipe"] });
    // tar may exit before it has read its input; its exit code reports that.
    tar.stdin.on("error", () => undefined);
    tar.stdin.end(await this.#entries());
    const archive = new PassThrough();
    const ended = finished(tar, "tar");
    tar.stdout.pipe(archive, { end: false });
    archive.once("close", () => tar.kill("SIGKILL"));
    ended.then(
      () => archive.end(),
      (error: Error) => archive.destroy(error),
    );
    return archive;
  }

  /**
   * The entries in the directories, without the directories themselves: those already exist in the next machine, and
   * the agent may not change their owner and mode.
   */
  async #entries(): Promise<Buffer> {
    const names = await Promise.all(
      this.#trees.map(async (tree) =>
        (await readdir(`/${tree}`, { encoding: "latin1" })).map((name) => `${tree}/${name}`),
      ),
    );
    return Buffer.from(names.flat().join("\0"), "latin1");
  }

  /**
   * Unpacks a tar stream made by {@link save}; or, of one with other directories, those in `places`, each with where it belongs. None of
   * these may be empty.
   */
  async restore(archive: Readable, places: readonly (readonly [string, string])[] = []): Promise<void> {
    this.homeFiles?.remove();
    const { file, args, identity } = call("tar", [
      ...["--extract", "--directory=/", "--preserve-permissions"],
      ...["--no-same-owner", "--delay-directory-restore", "--wildcards"],
      ...places.map(([from, to]) => `--transform=s,^${from}/,${to}/,rhS`),
      // Not the directories themselves, as in `#entries`.
      ...places.map(([from]) => `${from}/?*`),
    ]);
    const tar = spawn(file, args, { ...identity, stdio: ["pipe", "ignore", "pipe"] });
    // tar may stop reading at the end marker, before the end of the stream, so a write error here is harmless.
    tar.stdin.on("error", () => undefined);
    archive.once("error", () => tar.kill("SIGKILL"));
    archive.pipe(tar.stdin);
    await finished(tar, "tar").finally(() => archive.unpipe().resume());
  }
}

function call(name: string, args: readonly string[]): ReturnType<typeof asProgram> {
  try {
    return asProgram(name, args);
  } catch (error) {
    throw lacking(name, error);
  }
}

/** Says what a template lacks that has no such program. Another error stays as it is. */
function lacking(name: string, error: unknown): unknown {
  if ((error as NodeJS.ErrnoException).code !== "ENOENT") return error;
  return new Error(
    `its template has no ${name}; sandboxes are stopped, kept and started again with tar and find: use an image that has both`,
  );
}

/**
 * Resolves when the program succeeds. tar's exit code 1 counts as success: some files changed while they were read.
 */
async function finished(child: ChildProcess, name: string): Promise<void> {
  let stderr = "";
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    stderr = (stderr + chunk).slice(-keptErrorOutput);
  });
  const [code] = (await once(child, "close").catch((error: unknown) => {
    throw lacking(name, error);
  })) as [number | null];
  if (code !== 0 && code !== 1) throw new Error(stderr.trim() || `${name} ended with ${code}`);
}

const withoutSlash = (path: string): string => path.replace(/^\/+|\/+$/g, "");
