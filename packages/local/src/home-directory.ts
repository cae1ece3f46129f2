import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { InvalidHomeFilesError } from "./errors/local-errors.js";
import type { HomeFiles } from "./runtime/host/home-files.js";

/** Few and small, because each machine gets them. Directories count as files. */
const mostFiles = 50;
const mostBytes = 128 * 1024;

/**
 * The files of a directory that each home directory begins with. Links are followed.
 *
 * @throws InvalidHomeFilesError when the directory, or a file in it, cannot be read, or when there is too much in it.
 */
export function readHomeFiles(directory = process.env.CLOUD_SANDBOX_HOME_FILES || undefined): HomeFiles {
  if (directory === undefined) return {};
  const refuse = (reason: string): never => {
    throw new InvalidHomeFilesError(directory, reason);
  };
  const files: Record<string, string> = {};
  let entries = 0;
  let bytes = 0;
  const read = (below: string): void => {
    for (const name of readdirSync(join(directory, below))) {
      const path = join(below, name);
      const status = statSync(join(directory, path));
      if (++entries > mostFiles) refuse(`there are more than ${mostFiles} files in it`);
      if (status.isDirectory()) {
        read(path);
        continue;
      }
      if (!status.isFile()) refuse(`${path} is not a file`);
      bytes += status.size;
      if (bytes > mostBytes) refuse(`its files have more than ${mostBytes / 1024} KiB`);
      files[path] = readFileSync(join(directory, path), "base64");
    }
  };
  try {
    read("");
  } catch (error) {
    if (error instanceof InvalidHomeFilesError) throw error;
    const { code, path = directory } = error as NodeJS.ErrnoException;
    const reasons: Partial<Record<string, string>> = {
      ENOENT: "does not exist",
      ENOTDIR: "is not a directory",
      EACCES: "may not be read by this process",
    };
    refuse(`${path} ${reasons[code ?? ""] ?? `cannot be read (${code})`}`);
  }
  if (Object.keys(files).length === 0) refuse("there is no file in it");
  return files;
}

/** Matches settings of package managers that hold a password, and addresses that contain one. */
const password =
  /(_auth|authtoken|password|passwd|secret|token)\s*[=:>]\s*[^\s$<]|:\/\/[^\s/@:]*:[^\s/@$]+@/i;

/** Names the files that seem to contain a password, which all code in sandboxes could read. */
export function remarksOn(files: HomeFiles): string[] {
  return Object.entries(files)
    .filter(([, content]) => password.test(Buffer.from(content, "base64").toString("latin1")))
    .map(
      ([name]) =>
        `${name} of --home-files seems to contain a password, which all code in sandboxes can read. Take it out, or use a mirror that needs none.`,
    );
}
