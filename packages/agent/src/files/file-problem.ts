import type { ErrorCode } from "@cloud-sandbox/protocol";
import { Problem } from "@cloud-sandbox/server-kit";

/** A problem with the path in its details. */
export const pathProblem = (status: number, code: ErrorCode, message: string, path: string) =>
  new Problem(status, code, message, { details: { path } });

/** Whether an error has one of these system error codes. */
export const failedWith = (error: unknown, ...codes: string[]): boolean =>
  error instanceof Error && "code" in error && codes.includes(String(error.code));

/** Translates a system error into a problem for the caller. Unknown errors are returned unchanged. */
export function fileProblem(error: unknown, path: string): unknown {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const known = refusals[code];
  return known ? pathProblem(known.status, known.code, `${path} ${known.text}`, path) : error;
}

interface Refusal {
  readonly status: number;
  readonly code: ErrorCode;
  readonly text: string;
}

const permission: Refusal = {
  status: 403,
  code: "PERMISSION_DENIED",
  text: "cannot be accessed by the sandbox's user. Change its permissions, or use another path.",
};
const disk: Refusal = {
  status: 413,
  code: "DISK_FULL",
  text: "does not fit: the sandbox's disk is full. Remove files, or use a sandbox with more disk.",
};
const special: Refusal = { status: 400, code: "INVALID_PATH", text: "is neither a file nor a directory." };
const busy: Refusal = {
  status: 429,
  code: "RESOURCE_EXHAUSTED",
  text: "cannot be opened: too many files are open. Try again.",
};

const refusals: Readonly<Record<string, Refusal>> = {
  ENOENT: { status: 404, code: "FILE_NOT_FOUND", text: "does not exist." },
  ENOTDIR: { status: 400, code: "INVALID_PATH", text: "leads through something that is not a directory." },
  EISDIR: { status: 400, code: "INVALID_PATH", text: "is a directory." },
  ENAMETOOLONG: { status: 400, code: "INVALID_PATH", text: "is too long." },
  ELOOP: { status: 400, code: "INVALID_PATH", text: "leads through too many symbolic links." },
  EEXIST: { status: 409, code: "FILE_ALREADY_EXISTS", text: "exists already." },
  ENOTEMPTY: { status: 409, code: "FILE_OPERATION_FAILED", text: "is being written to. Try again." },
  EACCES: permission,
  EPERM: permission,
  EROFS: permission,
  ENOSPC: disk,
  EDQUOT: disk,
  EFBIG: disk,
  ENXIO: special,
  ENODEV: special,
  EMFILE: busy,
  ENFILE: busy,
};
