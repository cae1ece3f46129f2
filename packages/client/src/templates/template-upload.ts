import { inTemporaryDirectory, nodeModules } from "../config/node-modules.js";
import { callInit } from "../config/options.js";
import { InvalidResponseError, invalidArgument, reportIt } from "../errors/errors.js";
import { packArchive } from "../files/local-archive.js";
import { localBlob } from "../files/local-blob.js";
import type { CallScope } from "../transport/calls/calls.js";
import { Channel, type ChannelOptions } from "../transport/channel.js";
import { type Account, bodyOf, type ControlPlaneClient, successOf } from "../transport/contract-clients.js";
import { answerOf } from "../transport/openapi-client.js";
import type { CopyOptions } from "./template-definition.js";

export interface UploadParts {
  controlPlane: ControlPlaneClient;
  /** Channel options for uploads to the server that an upload link names: without credentials. */
  uploads: Omit<ChannelOptions, "baseUrl" | "isForeign">;
  /** The control plane's account. */
  account: () => Account | Promise<Account>;
}

/**
 * Uploads the files of a COPY step, unless the server has them. Returns their hash, by which the step names them. The
 * hash covers names, modes and contents, so only a change of these causes a new upload.
 */
export async function uploadCopied(
  parts: UploadParts,
  context: string,
  sources: readonly string[],
  options: CopyOptions,
  scope: CallScope,
): Promise<string> {
  return inTemporaryDirectory(async (directory) => {
    const { path } = nodeModules();
    const target = path.join(directory, "files.tar.gz");
    const files = sources.map((source) => within(context, source));
    const packing = { exclude: options.exclude, signal: scope.abortSignal };
    const { hash, size } = await packArchive(files, target, packing);
    const body = { files_hash: hash, content_length: size };
    const init = { body, ...callInit({ signal: scope.abortSignal }) };
    const pending = parts.controlPlane.POST("/v1/templates/files/upload-link", init);
    const { present, upload_url: url } = await bodyOf(pending, "present");
    if (present) return hash;
    await send(parts, uploadUrl(url), await localBlob(target), scope);
    return hash;
  });
}

async function send(parts: UploadParts, url: URL, archive: Blob, scope: CallScope): Promise<void> {
  const request = {
    method: "PUT",
    path: url.pathname + url.search,
    headers: { "content-type": "application/gzip" },
    body: archive,
    signal: scope.abortSignal,
    requestTimeout: scope.remaining / 1000,
  };
  const baseUrl = new URL("/", url);
  const isForeign = baseUrl.origin !== (await parts.account()).baseUrl.origin;
  const channel = new Channel({ ...parts.uploads, baseUrl, isForeign });
  await successOf(parts.uploads.calls.during(async () => answerOf(await channel.send(request), "text")));
}

/**
 * The full path of a source, and its path relative to the context, which is its name in the archive. Throws if it is
 * outside the context.
 */
function within(context: string, source: string): { path: string; name: string } {
  const { path } = nodeModules();
  const full = path.resolve(context, source);
  const name = path.relative(context, full).split(path.sep).join("/") || ".";
  if (name !== ".." && !name.startsWith("../") && !path.isAbsolute(name)) return { path: full, name };
  throw invalidArgument(
    `"${source}" is not in the context of the build.`,
    "Set the option context to a directory that contains all copied files.",
  );
}

function uploadUrl(text: string | undefined): URL {
  const url = text !== undefined && URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "")
    return url;
  throw new InvalidResponseError({
    summary: "The server named no http(s) address to upload the template's files to.",
    hint: reportIt,
    code: "INVALID_RESPONSE",
  });
}
