import { localFailure, nodeModules } from "../../config/node-modules.js";
import { requireText } from "../../config/options.js";
import { SandboxError } from "../../errors/errors.js";

/** A file that `saveTo` wrote on this machine. */
export interface SavedFile {
  /** Absolute path of the file. */
  path: string;
  /** Size of the file in bytes. */
  bytes: number;
}

/** Writes a file on this machine, replacing an existing file. */
export async function saveBytes(file: string, bytes: Uint8Array): Promise<SavedFile> {
  requireText("path", file);
  const { fs, path: paths } = nodeModules(
    "Use bytes() instead, for example in new Blob([output.bytes()], { type: output.type }).",
  );
  const path = paths.resolve(file);
  try {
    await fs.promises.writeFile(path, bytes);
  } catch (error) {
    throw isDirectory(error) ? directoryGiven(path) : localFailure(error);
  }
  return { path, bytes: bytes.length };
}

function isDirectory(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EISDIR";
}

function directoryGiven(path: string): SandboxError {
  return new SandboxError({
    summary: `${path} is a directory.`,
    hint: "Give the path of the file to write.",
    code: "LOCAL_FILE_FAILED",
  });
}
