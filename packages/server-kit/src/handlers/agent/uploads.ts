import { Problem } from "../../http/problem.js";

/** Whether the body of an upload is the file itself, not a form that holds it. */
export function isBareUpload(contentType: string | undefined | null): boolean {
  return /^application\/octet-stream\b/i.test(contentType ?? "");
}

/** Where such a file goes. It has no name that could be completed with. */
export function bareDestination(path: string | undefined): string {
  if (path === undefined) throw missing("path is required: name the destination in the query.");
  if (!path.endsWith("/")) return path;
  const message = `${path} is a directory by its name.`;
  throw new Problem(400, "INVALID_PATH", message, { hint: "Name the file, too.", details: { path } });
}

export const fileMissing = () => missing("file is required: send the bytes as the form's part of that name.");

const missing = (message: string) => new Problem(400, "MISSING_PARAMETER", message);
