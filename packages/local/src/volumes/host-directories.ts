import { open, realpath } from "node:fs/promises";
import { isAbsolute, join, normalize } from "node:path";
import { Problem } from "@cloud-sandbox/server-kit";
import { InvalidMountDirectoryError } from "../errors/local-errors.js";
import { directoryItself, openBelow } from "../runtime/host/open-below.js";
import type { HostDirectory, SandboxRuntime } from "../runtime/sandbox-runtime.js";

/** Environment variable with the allowed directories, separated by colons, where no option names any. */
export const allowedMountsVariable = "CLOUD_SANDBOX_ALLOW_MOUNT";

/** A directory that stays open, so that its inode is not given to another one. */
export interface OpenDirectory {
  readonly directory: HostDirectory;
  release(): Promise<void>;
}

/** The directories of this machine that sandboxes may mount: those that the operator allowed, and all below them. */
export class HostDirectories {
  private constructor(
    /** Each path as the operator wrote it, and with its links resolved. */
    private readonly allowed: readonly { readonly written: string; readonly real: string }[],
    private readonly dataDirectory: string | undefined,
    /** Why sandboxes get no copies of them, and what to do instead. Undefined if they do. */
    readonly withoutCopies: string | undefined,
  ) {}

  /**
   * Throws an {@link InvalidMountDirectoryError} if the runtime cannot mount one. `dataDirectory` is never mounted. Undefined if
   * the runtime can mount none.
   */
  static async of(
    { withoutDirectories, withoutCopies }: Pick<SandboxRuntime, "withoutDirectories" | "withoutCopies">,
    wanted = (process.env[allowedMountsVariable] ?? "").split(":").filter(Boolean) as readonly string[],
    dataDirectory?: string,
  ): Promise<HostDirectories | undefined> {
    if (withoutDirectories !== undefined) {
      const [path] = wanted;
      if (path === undefined) return undefined;
      const fix = "Or leave --allow-mount and CLOUD_SANDBOX_ALLOW_MOUNT out";
      throw new InvalidMountDirectoryError(path, withoutDirectories, fix);
    }
    const allowed = await Promise.all(
      wanted.map(async (path) => {
        const written = normalize(path).replace(/(?<=.)\/$/, "");
        if (!isAbsolute(path)) throw new InvalidMountDirectoryError(path, "the path is not absolute");
        const real = await realpath(written).catch(() => {
          throw new InvalidMountDirectoryError(path, "it does not exist");
        });
        const handle = await open(real, directoryItself).catch(() => {
          throw new InvalidMountDirectoryError(path, "it is not a directory");
        });
        await handle.close();
        return { written, real };
      }),
    );
    return new HostDirectories(allowed, dataDirectory, withoutCopies);
  }

  /**
   * Opens a directory, one name after the other, and follows no link: code that can write to a mounted directory could make
   * one that leads elsewhere. Throws a 400 problem if it may not be mounted.
   */
  async open(path: string, isWritable: boolean): Promise<OpenDirectory> {
    const { real, names } = this.#below(path);
    const whole = join(real, ...names);
    const { dataDirectory } = this;
    if (dataDirectory !== undefined && (isWithin(whole, dataDirectory) || isWithin(dataDirectory, whole)))
      throw refused(`${path} holds the server's own data, or is a part of it.`, "Mount another directory.");
    const handle = await openBelow(real, names).catch((error: NodeJS.ErrnoException) => {
      const isMissing = error.code === "ENOENT";
      const what = isMissing
        ? `${path} does not exist.`
        : `${path} is not a directory, or a link is a part of it.`;
      throw refused(what, isMissing ? "Make the directory first." : "Give the path without links.");
    });
    try {
      const { dev, ino, uid, gid } = await handle.stat({ bigint: true });
      const owner = { uid: Number(uid), gid: Number(gid) };
      if (isWritable && owner.uid === 0 && process.getuid?.() === 0)
        throw refused(
          `${path} belongs to root, and no sandbox may write as root.`,
          "Give the directory to an ordinary user with chown, or mount it read-only.",
        );
      const directory = { path: whole, identity: `${dev}:${ino}`, owner };
      return { directory, release: () => handle.close() };
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  #below(path: string): { readonly real: string; readonly names: readonly string[] } {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: paths are passed on as lines.
    if (!isAbsolute(path) || /[\u0000-\u001f]/.test(path) || path.split("/").includes(".."))
      throw refused("A host path must be absolute, without .. and control characters.", "Correct the path.");
    const wanted = normalize(path).replace(/(?<=.)\/$/, "");
    for (const { real, written } of this.allowed)
      for (const directory of [written, real])
        if (isWithin(wanted, directory))
          return { real, names: wanted.slice(directory.length).split("/").filter(Boolean) };
    throw refused(
      `This server does not let sandboxes mount ${path}.`,
      `Whoever runs the server allows a directory, and all below it, with serve --allow-mount DIRECTORY or ${allowedMountsVariable}.`,
    );
  }
}

const isWithin = (path: string, directory: string): boolean =>
  directory === "/" || path === directory || path.startsWith(`${directory}/`);

function refused(message: string, hint: string): Problem {
  return new Problem(400, "MOUNT_NOT_ALLOWED", message, { hint });
}
