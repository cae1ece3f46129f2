import { ConfigurationError, isSandboxError, SandboxError } from "../errors/errors.js";

/**
 * Node's own modules, for what needs a file system. Without imports, which a bundler for browsers would stumble over.
 * Throws a {@link ConfigurationError} where they are not.
 */
export function nodeModules() {
  if (typeof globalThis.process?.getBuiltinModule !== "function") {
    throw new ConfigurationError({
      summary: "There are no local files here.",
      hint: "Files on the disk need Node.js; elsewhere, give contents to files.write().",
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

/** A directory of its own for what `use` does, removed afterwards. */
export async function inTemporaryDirectory<Value>(use: (path: string) => Promise<Value>): Promise<Value> {
  const { fs, os, path } = nodeModules();
  const directory = await fs.promises.mkdtemp(path.join(os.tmpdir(), "cloud-sandbox-"));
  try {
    return await use(directory);
  } finally {
    await fs.promises.rm(directory, { recursive: true, force: true });
  }
}

/** What this machine's files did, in this client's terms. */
export function localFailure(error: unknown): SandboxError {
  if (isSandboxError(error)) return error;
  return new SandboxError({
    summary: `A local file cannot be used: ${error instanceof Error ? error.message : String(error)}.`,
    hint: "Check its path and permissions, and that nothing changes it meanwhile.",
    code: "LOCAL_FILE_FAILED",
    cause: error,
  });
}
