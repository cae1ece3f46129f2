/** Files of sandboxes as links, `sandbox://{id}/files{/path*}`: clients read them as resources, and file_upload copies from them. */
import { isUtf8 } from "node:buffer";
import { imageType, imageTypes } from "@cloud-sandbox/server-kit/image-type";
import type { Sandbox } from "cloud-sandbox";
import mime from "mime/lite";
import { InvalidArgumentsError } from "../errors/errors.js";
import type { ToolContext } from "./definition/tool.js";

export function fileUri(sandboxId: string, path: string): string {
  return `sandbox://${sandboxId}/files${path.split("/").map(encodeURIComponent).join("/")}`;
}

export function typeOfName(path: string): string {
  return mime.getType(path) ?? "application/octet-stream";
}

/** The media type of a file: of images by the bytes, because clients show them by their type, and else by the name. */
export function typeOf(path: string, bytes: Uint8Array): string {
  const found = imageType(bytes);
  if (found !== undefined) return found;
  const named = mime.getType(path);
  if (named !== null && !imageTypes.some((each) => each === named)) return named;
  return isText(bytes) ? "text/plain" : "application/octet-stream";
}

export function isText(bytes: Uint8Array): boolean {
  return isUtf8(bytes) && !bytes.includes(0);
}

/** Bytes of the largest file that is read as a resource. Its encoding may double them. */
export const largestResource = 4 * 1024 * 1024;

/**
 * Reads a file. Undefined if it has more than `maxBytes`. Does not ask for the size first, because the size of a link
 * is not that of its target, and a file may grow.
 */
export async function bytesWithin(
  { files }: Sandbox,
  path: string,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Uint8Array | undefined> {
  return files.readBytes(path, { maxBytes, signal }).catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "FILE_TOO_LARGE") return undefined;
    throw error;
  });
}

/** Bytes of the largest file that one call copies from a sandbox to another: they pass through this server's memory. */
const longestCopy = 64 * 1024 * 1024;

/** The content of a URI: the data in it, or a file of a sandbox that the client may use. */
export async function contentOf(
  uri: string,
  { sandboxes, signal }: Pick<ToolContext, "sandboxes" | "signal">,
): Promise<Uint8Array> {
  const [, base64, data] = /^data:[^,]*?(;base64)?,(.*)$/is.exec(uri) ?? [];
  if (data !== undefined) return base64 === undefined ? unescaped(data) : fromBase64(unescaped(data));
  const [, id, path] = /^sandbox:\/\/([^/?#]+)\/files(\/[^?#]+)$/.exec(uri) ?? [];
  if (id === undefined || path === undefined)
    throw new InvalidArgumentsError(
      "uri must be a data: URI or sandbox://{id}/files/{path}; run_command with curl fetches from elsewhere, where the sandbox has internet access.",
    );
  return copied(await sandboxes.find({ sandbox_id: decoded(id) }, signal), decoded(path), signal);
}

async function copied(sandbox: Sandbox, path: string, signal: AbortSignal): Promise<Uint8Array> {
  const { isDirectory } = await sandbox.files.stat(path, { signal });
  if (isDirectory) throw new InvalidArgumentsError(directory(path));
  const bytes = await bytesWithin(sandbox, path, longestCopy, signal);
  if (bytes !== undefined) return bytes;
  throw new InvalidArgumentsError(
    `${path} is too large: at most ${longestCopy} bytes can be copied. Split it with run_command, and join the parts in the other sandbox.`,
  );
}

export function directory(path: string): string {
  return `${path} is a directory: pack it with run_command and tar first.`;
}

/** Uses atob, which refuses text that is not base64: `Buffer.from` skips the wrong characters. */
function fromBase64(text: Buffer): Buffer {
  try {
    return Buffer.from(atob(text.toString("latin1")), "latin1");
  } catch {
    throw new InvalidArgumentsError(
      "uri says ;base64, but its data is not valid base64 or is cut off: encode the whole file again, or leave ;base64 out for text.",
    );
  }
}

/** Decodes the escapes of a URI to bytes, which need not be UTF-8. */
function unescaped(text: string): Buffer {
  if (/%(?![\da-f]{2})/i.test(text)) throw notEncoded();
  const bytes = Buffer.from(text);
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    const isEscape = bytes[at] === 0x25;
    bytes[length++] = isEscape
      ? Number.parseInt(bytes.toString("latin1", at + 1, at + 3), 16)
      : (bytes[at] ?? 0);
    if (isEscape) at += 2;
  }
  return bytes.subarray(0, length);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw notEncoded();
  }
}

function notEncoded(): InvalidArgumentsError {
  return new InvalidArgumentsError("uri has an invalid percent escape: write % as %25.");
}
