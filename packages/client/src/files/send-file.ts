import type { AgentAccess } from "../agent/agent-access.js";
import { successOf } from "../transport/contract-clients.js";
import type { Content } from "../transport/http/multipart.js";
import type { CallInit } from "../transport/openapi-client.js";

/** How to write a file. Only servers with this project's extensions take these options for uploads. */
export interface UploadOptions {
  /** Permissions in octal. */
  mode?: string;
  overwrite?: boolean;
}

/** Uploads a file (POST /files/upload), without a form around it where that is possible, because a form has to be parsed. */
export function sendFile(
  { client, isExtended }: AgentAccess,
  path: string,
  file: Content | ReadableStream<Uint8Array>,
  { init, ...options }: UploadOptions & { init: CallInit },
) {
  const bare = { params: { query: { path, ...options } }, body: file, ...init };
  // Send the body without a form only if it has no file name and the path is no directory: a form also carries the
  // name, which the server appends to a directory.
  const isBare = isExtended && !("name" in file) && !path.endsWith("/");
  if (isBare || "getReader" in file) return successOf(client.POST("/files/upload", bare));
  const form = { params: { query: options }, body: { file, path }, ...init };
  return successOf(client.POST("/files/upload", form));
}
