import { Problem } from "../../http/problem.js";

/** Whether the body of an upload is the file itself, not a form that holds it. */
export function isBareUpload(contentType: string | undefined | null): boolean {
  return /^application\/octet-stream\b/i.test(contentType ?? "");
}

/**
 * The destination of an upload whose body is the file itself. The upload has no file name, so the path must not be a
 * directory.
 */
export function bareDestination(path: string | undefined): string {
  if (path === undefined) throw missing("path is required: name the destination in the query.");
  if (!path.endsWith("/")) return path;
  const message = `${path} ends with a slash, so it names a directory.`;
  throw new Problem(400, "INVALID_PATH", message, {
    hint: "Name the file in the path, after the directory.",
    details: { path },
  });
}

export const fileMissing = () => missing("file is required: send the bytes as the form's part of that name.");

const missing = (message: string) => new Problem(400, "MISSING_PARAMETER", message);
