import { type CallOptions, callInit } from "../config/call-options.js";
import { identifier } from "../config/identifier.js";
import { omitUndefined } from "../config/omit-undefined.js";
import { checkText, checkWhole } from "../config/option-checks.js";
import { NotFoundError } from "../errors/errors.js";
import { PaginatedList } from "../transport/answers/paginated-list.js";
import { asText } from "../transport/answers/required-fields.js";
import { readBody, successOf } from "../transport/contract-clients.js";
import { type ImageMatch, matchImage } from "./image-match.js";
import type { Template } from "./template.js";
import { buildTemplate, type TemplateBuildOptions } from "./template-build.js";
import { type TemplateRecord, templateRecord } from "./template-record.js";
import type { UploadParts } from "./template-upload.js";

/** Which templates are listed. */
export interface ListTemplatesOptions extends CallOptions {
  /** Those of this category. */
  category?: string | undefined;
  /** Those for this language. */
  language?: string | undefined;
  /** Those whose name, title or description holds this text, in upper or lower case. It is looked for here. */
  text?: string | undefined;
  /** Templates per page. Default: all at once. */
  limit?: number | undefined;
}

/** The public templates and those of the account. */
export class Templates {
  readonly #parts: UploadParts;

  /** @internal */
  static of(parts: UploadParts): Templates {
    return new Templates(parts);
  }

  private constructor(parts: UploadParts) {
    this.#parts = parts;
  }

  /** All of them, or those of a category, of a language, with a text (GET /v1/templates). */
  list(options: ListTemplatesOptions = {}): PaginatedList<TemplateRecord> {
    const { category, language, limit, text } = options;
    for (const [option, value] of Object.entries({ category, language, text })) checkText(option, value);
    checkWhole("limit", limit, 1, 1000);
    return PaginatedList.of(async (cursor) => {
      const query = omitUndefined({ category, language, limit, cursor });
      const init = { params: { query }, ...callInit(options) };
      const pending = this.#parts.controlPlane.GET("/v1/templates", init);
      return readBody(pending, ({ data, has_more, next_cursor }) => {
        const items = (data ?? []).map(templateRecord).filter((record) => fits(record, options));
        return { items, hasMore: has_more ?? false, nextCursor: asText(next_cursor ?? "") || undefined };
      });
    });
  }

  /** One, by its name or its id (GET /v1/templates/{name}). */
  async get(nameOrId: string, options?: CallOptions): Promise<TemplateRecord> {
    const init = { params: { path: { name: identifier("template", nameOrId) } }, ...callInit(options) };
    const pending = this.#parts.controlPlane.GET("/v1/templates/{name}", init);
    return readBody(pending, templateRecord, "id", "name");
  }

  /**
   * The template that is what a container image of this name holds, as `python:3.12-slim`, `node:22`, `golang:1.22`, or the name
   * of a template. The major version of its language is the image's, where the server tells it; what else differs is in
   * `differences`. Throws a `ValidationError` (IMAGE_UNAVAILABLE) that names what there is: nothing is downloaded, and nothing
   * else put in its place.
   */
  async forImage(image: string, options?: CallOptions): Promise<ImageMatch> {
    return matchImage(image, {
      get: (name) => this.get(name, options),
      has: async (name) => {
        for await (const record of this.list(options)) if (record.name === name) return true;
        return false;
      },
    });
  }

  /**
   * Builds a template from a definition and waits until sandboxes can be made from it: uploads the files of `copy` that the
   * server lacks, starts the build (POST /v1/templates/build), and follows its status and log. A build that fails rejects with
   * a `TemplateBuildError`, which has the log of the step that failed.
   */
  async build(template: Template, options: TemplateBuildOptions): Promise<TemplateRecord> {
    return buildTemplate(this.#parts, template, options);
  }

  /**
   * Deletes one of the account's, by its id or its name (DELETE /v1/templates/{name}); sandboxes made from it go on. One that
   * is gone is no error; a public one is a `PermissionDeniedError`.
   */
  async delete(nameOrId: string, options?: CallOptions): Promise<void> {
    try {
      // Servers delete by the id alone, which is a number.
      const id = /^\d+$/.test(nameOrId) ? nameOrId : (await this.get(nameOrId, options)).id;
      const init = { params: { path: { name: id } }, ...callInit(options) };
      await successOf(this.#parts.controlPlane.DELETE("/v1/templates/{name}", init));
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
    }
  }
}

function fits(record: TemplateRecord, { category, language, text }: ListTemplatesOptions): boolean {
  // A server that knows these filters need not say what it filtered by.
  if (category !== undefined && (record.category ?? category) !== category) return false;
  // One with several languages does not say here which; a server that has those filters by them.
  if (language !== undefined && ![undefined, "multi", language].includes(record.language)) return false;
  const shown = [record.name, record.displayName, record.description].join("\n");
  return text === undefined || shown.toLowerCase().includes(text.toLowerCase());
}
