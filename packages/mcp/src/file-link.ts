/** Files as links: `sandbox://{id}/files{/path*}` is read as a resource, and written from. */
import type { Sandbox } from "cloud-sandbox";
import mime from "mime/lite";
import { InvalidArgumentsError } from "./arguments.js";
import type { ToolContext } from "./tool.js";

export function fileUri(sandboxId: string, path: string): string {
  return `sandbox://${sandboxId}/files${path.split("/").map(encodeURIComponent).join("/")}`;
}

export function mediaType(path: string): string {
  return mime.getType(path) ?? "application/octet-stream";
}

/** Bytes that are copied from one sandbox to another in one call; they pass through this server's memory. */
const longestCopy = 64 * 1024 * 1024;

/** What a URI stands for: the data in it, or a file of a sandbox that the client may use. */
export async function contentOf(
  uri: string,
  { sandboxes, signal }: Pick<ToolContext, "sandboxes" | "signal">,
): Promise<Uint8Array> {
  const [, encoding, data] = /^data:[^,]*?(;base64)?,(.*)$/is.exec(uri) ?? [];
  if (data !== undefined) return Buffer.from(decoded(data), encoding === undefined ? "utf8" : "base64");
  const [, id, path] = /^sandbox:\/\/([^/?#]+)\/files(\/[^?#]+)$/.exec(uri) ?? [];
  if (id === undefined || path === undefined)
    throw new InvalidArgumentsError(
      "uri must be a data: URI or sandbox://{id}/files/{path}; run_command with curl fetches from elsewhere, where the sandbox has internet access.",
    );
  return copied(await sandboxes.find({ sandbox_id: decoded(id) }, signal), decoded(path), signal);
}

async function copied(sandbox: Sandbox, path: string, signal: AbortSignal): Promise<Uint8Array> {
  const { isDirectory, size } = await sandbox.files.stat(path, { signal });
  if (isDirectory) throw new InvalidArgumentsError(directory(path));
  if (size <= longestCopy) return sandbox.files.readBytes(path, { signal });
  throw new InvalidArgumentsError(
    `${path} has ${size} bytes, and a copy at most ${longestCopy}: split it with run_command, and join the parts there.`,
  );
}

export function directory(path: string): string {
  return `${path} is a directory: pack it with run_command and tar first.`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new InvalidArgumentsError("uri is not encoded as URIs are: write % as %25.");
  }
}
