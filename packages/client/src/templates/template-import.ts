import { nodeModules } from "../config/node-modules.js";
import {
  checkBoolean,
  checkFunction,
  checkKnown,
  checkSeconds,
  checkText,
  type OptionNames,
  omitUndefined,
  requireText,
} from "../config/options.js";
import { CallbackErrors } from "../errors/callback-errors.js";
import { AbortError, ApiError, invalidArgument, ValidationError } from "../errors/errors.js";
import { localBlob } from "../files/local-blob.js";
import type { TransferProgress } from "../files/local-files.js";
import { CallScope } from "../transport/calls/calls.js";
import { type ControlPlaneClient, readBody } from "../transport/contract-clients.js";
import { type TemplateRecord, templateRecord } from "./template-record.js";

/** An image's file: its path on this machine, its bytes, or a web or Node.js stream of them. */
export type ImageFile = string | Blob | Uint8Array | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;

/** Options of `templates.import`. */
export interface TemplateImportOptions {
  /** Name of the template. Default: the name that the file has for the image, such as `python:3.12-slim`. */
  name?: string | undefined;
  /** Whether to replace a template of the same name. Default false: such a template is a `ConflictError`. */
  update?: boolean | undefined;
  /** Called as bytes are sent; with a custom `fetch`, only once, at the end. After the last byte the server unpacks the image. */
  onProgress?: ((progress: TransferProgress) => void) | undefined;
  /** Seconds until the template must be active, the upload included. Default 3600. */
  timeoutSeconds?: number | undefined;
  /** Ends the import: the server removes what it has of the image. */
  signal?: AbortSignal | undefined;
}

const optionNames: OptionNames<TemplateImportOptions> = {
  name: true,
  update: true,
  onProgress: true,
  timeoutSeconds: true,
  signal: true,
};

/** Sends the file and waits until the server has made a template of it. */
export async function importTemplate(
  controlPlane: ControlPlaneClient,
  image: ImageFile,
  options: TemplateImportOptions,
): Promise<TemplateRecord> {
  checkKnown("templates.import", options, optionNames);
  const { name, onProgress, timeoutSeconds = 3600, update } = options;
  if (name !== undefined) requireText("name", name);
  checkText("name", name);
  checkBoolean("update", update);
  checkFunction("onProgress", onProgress);
  checkSeconds("timeoutSeconds", timeoutSeconds);
  const scope = new CallScope(options.signal);
  const own = new CallbackErrors();
  try {
    scope.throwIfAborted();
    const body = await contentOf(image);
    const total = body instanceof Blob ? body.size : body instanceof Uint8Array ? body.length : undefined;
    const tell = onProgress && own.of(onProgress);
    const onSent =
      tell &&
      ((bytes: number): void => {
        try {
          tell({ bytes, total });
        } catch (fault) {
          scope.stop(new AbortError(fault));
        }
      });
    const pending = controlPlane.POST("/v1/templates/import", {
      params: { query: omitUndefined({ name, update }) },
      headers: { "content-type": "application/x-tar" },
      // The types of the contract know no stream as a file.
      body: body as Blob,
      signal: scope.abortSignal,
      requestTimeout: timeoutSeconds,
      ...omitUndefined({ onSent }),
    });
    const record = await readBody(pending, templateRecord, "id", "name");
    scope.throwIfAborted();
    return record;
  } catch (error) {
    if (error instanceof ApiError && [404, 405, 501].includes(error.status ?? 0)) throw notOffered(error);
    throw own.or(scope.failure ?? error);
  } finally {
    scope.end();
  }
}

async function contentOf(image: ImageFile): Promise<Blob | Uint8Array | ReadableStream<Uint8Array>> {
  if (typeof image === "string") {
    requireText("The path of the image", image);
    return localBlob(image);
  }
  if (image instanceof Blob || image instanceof Uint8Array) return image;
  if (image instanceof ReadableStream) {
    if (image.locked) throw alreadyRead();
    return image;
  }
  if (typeof image !== "object" || image === null || !(Symbol.asyncIterator in image))
    throw invalidArgument("An image is the path of its file, a Blob, a Uint8Array or a stream of bytes.");
  if ("readableEnded" in image && image.readableEnded === true) throw alreadyRead();
  const { stream } = nodeModules("Give the image as a Blob or a ReadableStream.");
  const bytes = stream.Readable.from(image, { objectMode: false });
  return stream.Readable.toWeb(bytes) as ReadableStream<Uint8Array>;
}

const alreadyRead = () =>
  invalidArgument("The image is a stream that was already read.", "Give a new stream.");

function notOffered(cause: ApiError): ValidationError {
  return new ValidationError({
    summary: "This server makes no templates of image files.",
    hint: 'Import the image at a server of cloud-sandbox-local that runs on Linux with bubblewrap, or build from an image that this server has: templates.build(Template.from("python:3.12-slim"), …).',
    code: "IMPORT_UNAVAILABLE",
    status: cause.status,
    requestId: cause.requestId,
    cause,
  });
}
