import type { Readable } from "node:stream";
import { type IncomingRequest, Problem } from "@cloud-sandbox/server-kit";
import { fileMissing } from "@cloud-sandbox/server-kit/handlers";
import { Busboy, type BusboyInstance } from "@fastify/busboy";

/** A file that is being uploaded. */
export interface IncomingFile {
  /** The file name on the client's side. */
  readonly name: string;
  /** The destination, if the form's `path` field came before the file. */
  readonly path: string | undefined;
  /** The content, which must be read to the end. Fails if the upload breaks off. */
  readonly bytes: Readable;
}

const highWaterMark = 256 * 1024;
const limits = { fields: 16, parts: 32, files: 1, fieldSize: 4096, headerPairs: 100 };

/**
 * Reads a multipart form. Passes its file to `store` while it arrives, and resolves at the end of the form with the
 * result of `store` and the form's `path`, which clients may send after the file.
 */
export async function receiveForm<T>(
  request: IncomingRequest,
  store: (file: IncomingFile) => Promise<T>,
): Promise<{ stored: T; path: string | undefined }> {
  const form = formParser(request);
  let path: string | undefined;
  let storing: Promise<T> | undefined;
  let bytes: Readable | undefined;

  const parsed = new Promise<void>((resolve, reject) => {
    form.on("field", (name, value) => {
      if (name === "path" && value !== "") path ??= value;
    });
    form.on("file", (_field, stream, name) => {
      bytes = stream;
      // Busboy reports an error only to current listeners. Destroying the stream with it also reports it to later
      // readers.
      stream.on("error", (error) => stream.destroy(error));
      storing = store({ name: name ?? "", path, bytes });
      storing.catch(reject);
    });
    form.once("finish", resolve);
    form.on("error", () => reject(malformed()));
    request.on("error", () => reject(malformed()));
  });
  try {
    request.pipe(form);
    await parsed;
    if (!storing) throw fileMissing();
    return { stored: await storing, path };
  } catch (error) {
    request.unpipe(form);
    bytes?.destroy(malformed());
    // Wait for `store` to clean up, and ignore its error: the first error is the one to report.
    await storing?.catch(() => undefined);
    throw error;
  }
}

function formParser(request: IncomingRequest): BusboyInstance {
  const contentType = request.headers["content-type"] ?? "";
  if (!/^multipart\/form-data\b/i.test(contentType)) throw malformed();
  try {
    return new Busboy({
      headers: { "content-type": contentType },
      limits,
      highWaterMark,
      fileHwm: highWaterMark,
      isPartAFile: (field, _type, name) => field === "file" || name !== undefined,
    });
  } catch {
    throw malformed();
  }
}

export const brokenOff = () =>
  new Problem(400, "INVALID_REQUEST", "The upload broke off before its end. Upload the file again.");

const malformed = () =>
  new Problem(
    400,
    "INVALID_REQUEST",
    "The upload is not a complete multipart/form-data form with a file part.",
  );
