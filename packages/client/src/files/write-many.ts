import { SandboxError } from "../errors/errors.js";
import type { FileContent } from "./file-content.js";

/** A file for `files.writeMany`. */
export interface FileToWrite {
  /** Path in the sandbox. */
  path: string;
  content: FileContent;
}

/** Writes files, `concurrency` at a time, in order. After a failure no further file is begun. */
export async function writeEach<Written>(
  files: readonly FileToWrite[],
  concurrency: number,
  signal: AbortSignal | undefined,
  write: (file: FileToWrite) => Promise<Written>,
): Promise<Written[]> {
  const written = new Map<FileToWrite, Written>();
  const rest = files.values();
  let failure: { cause: unknown } | undefined;
  const writer = async (): Promise<void> => {
    for (const file of rest) {
      try {
        written.set(file, await write(file));
      } catch (cause) {
        failure ??= { cause };
      }
      if (failure !== undefined) return;
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, files.length) }, writer));
  if (failure === undefined) return files.flatMap((file) => written.get(file) ?? []);
  if (signal?.aborted) throw failure.cause;
  const left = files.filter((file) => !written.has(file)).map(({ path }) => path);
  throw notWritten(left, files.length, failure.cause);
}

const mostNamed = 20;

function notWritten(left: readonly string[], total: number, cause: unknown): SandboxError {
  const more = left.length > mostNamed ? `, and ${left.length - mostNamed} more` : "";
  const reason = cause instanceof Error ? ` ${cause.message}` : "";
  return new SandboxError({
    summary: `${left.length} of ${total} files were not written: ${left.slice(0, mostNamed).join(", ")}${more}.${reason}`,
    hint: "Call writeMany again with the files that were not written; the others are written.",
    code: "FILES_NOT_WRITTEN",
    cause,
  });
}
