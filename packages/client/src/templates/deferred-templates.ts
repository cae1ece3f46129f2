/** The templates of an account. Their code is loaded on first use, to keep startup fast. */
import { call, deferred, each } from "../transport/deferred.js";
import type { UploadParts } from "./template-upload.js";
import type { Templates } from "./templates.js";

export function templatesOf(parts: UploadParts): Templates {
  return deferred(async () => (await import("./templates.js")).Templates.of(parts), {
    list: { gives: { [Symbol.asyncIterator]: each, pages: each } },
    get: call,
    forImage: call,
    build: call,
    delete: call,
  });
}
