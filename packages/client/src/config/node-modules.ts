import { ConfigurationError, isSandboxError, SandboxError } from "../errors/errors.js";

/**
 * Node.js modules for code that needs a file system. Not imported, because bundlers for browsers would fail. Throws a
 * {@link ConfigurationError} with `hint` in runtimes that do not have them.
 */
export function nodeModules(
  hint = "Files on the disk need Node.js, Deno or Bun; elsewhere, give contents to files.write().",
) {
  if (typeof globalThis.process?.getBuiltinModule !== "function") {
    throw new ConfigurationError({
      summary: "This runtime has no file system.",
      hint,
      code: "LOCAL_FILES_UNAVAILABLE",
    });
  }
  return {
    crypto: process.getBuiltinModule("crypto"),
    fs: process.getBuiltinModule("fs"),
    os: process.getBuiltinModule("os"),
    path: process.getBuiltinModule("path"),
    stream: process.getBuiltinModule("stream"),
    streams: process.getBuiltinModule("stream/promises"),
    zlib: process.getBuiltinModule("zlib"),
  };
}

/** Calls `use` with the path of a new temporary directory, and deletes the directory afterwards. */
export async function inTemporaryDirectory<Value>(use: (path: string) => Promise<Value>): Promise<Value> {
  const { fs, os, path } = nodeModules();
  const directory = await fs.promises.mkdtemp(path.join(os.tmpdir(), "cloud-sandbox-"));
  try {
    return await use(directory);
  } finally {
    await fs.promises.rm(directory, { recursive: true, force: true });
  }
}

/** Wraps an error of the local file system in a `SandboxError`. */
export function localFailure(error: unknown): SandboxError {
  if (isSandboxError(error)) return error;
  return new SandboxError({
    summary: `A local file cannot be used: ${error instanceof Error ? error.message : String(error)}.`,
    hint: "Check the local file's path and permissions, and that nothing changes the file meanwhile.",
    code: "LOCAL_FILE_FAILED",
    cause: error,
  });
}
