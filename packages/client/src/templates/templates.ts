import {
  type CallOptions,
  callInit,
  callOptionNames,
  checkKnown,
  checkText,
  checkWhole,
  identifier,
  type OptionNames,
  omitUndefined,
  requestInit,
  requireText,
} from "../config/options.js";
import { PaginatedList } from "../config/paginated-list.js";
import { NotFoundError } from "../errors/errors.js";
import { asText } from "../transport/answer-fields.js";
import { readBody, successOf } from "../transport/contract-clients.js";
import type { ImageMatch } from "./image-match.js";
import type { Template } from "./template.js";
import type { TemplateBuildOptions } from "./template-build.js";
import type { ImageFile, TemplateImportOptions } from "./template-import.js";
import { type TemplateRecord, templateRecord } from "./template-record.js";
import type { UploadParts } from "./template-upload.js";

/** Filters of `templates.list`. */
export interface ListTemplatesOptions extends CallOptions {
  /** Only templates of this category. */
  category?: string | undefined;
  /** Only templates for this language. */
  language?: string | undefined;
  /**
   * Only templates whose name, title or description contains this text, ignoring case. This client filters, not the
   * server.
   */
  text?: string | undefined;
  /** Templates per page, 1 to 1,000. Default: all in one page. */
  limit?: number | undefined;
}

const listOptionNames: OptionNames<ListTemplatesOptions> = {
  ...callOptionNames,
  category: true,
  language: true,
  text: true,
  limit: true,
};

/** Lists, builds and deletes templates: the public ones and those of the account. */
export class Templates {
  readonly #parts: UploadParts;

  /** @internal */
  static of(parts: UploadParts): Templates {
    return new Templates(parts);
  }

  private constructor(parts: UploadParts) {
    this.#parts = parts;
  }

  /**
   * Lists templates, optionally filtered (GET /v1/templates). `for await` and `all()` read all of them;
   * `for (const template of await list)` reads only the first page.
   */
  list(options: ListTemplatesOptions = {}): PaginatedList<TemplateRecord> {
    const { category, language, limit, text } = options;
    return PaginatedList.of(async (cursor) => {
      checkKnown("templates.list", options, listOptionNames);
      for (const [option, value] of Object.entries({ category, language, text })) checkText(option, value);
      checkWhole("limit", limit, 1, 1000);
      const query = omitUndefined({ category, language, limit, cursor });
      const init = { params: { query }, ...requestInit(options) };
      const pending = this.#parts.controlPlane.GET("/v1/templates", init);
      return readBody(pending, ({ data, has_more, next_cursor }) => {
        const items = (data ?? []).map(templateRecord).filter((record) => fits(record, options));
        return { items, hasMore: has_more ?? false, nextCursor: asText(next_cursor ?? "") || undefined };
      });
    });
  }

  /** Gets a template by name or id (GET /v1/templates/{name}). */
  async get(nameOrId: string, options?: CallOptions): Promise<TemplateRecord> {
    const init = { params: { path: { name: identifier("template", nameOrId) } }, ...callInit(options) };
    const pending = this.#parts.controlPlane.GET("/v1/templates/{name}", init);
    return readBody(pending, templateRecord, "id", "name");
  }

  /**
   * Finds the template that matches a container image's name, such as `python:3.12-slim`, `node:22` or `golang:1.22`, or
   * that has this name itself. The language's major version always matches, if the server reports versions; other
   * differences are listed in `differences`. Throws a `ValidationError` (IMAGE_UNAVAILABLE) that names the available
   * images. No image is downloaded, and none is replaced by something different.
   */
  async forImage(image: string, options?: CallOptions): Promise<ImageMatch> {
    requireText("image", image);
    const { matchImage } = await import("./template-work.js");
    return matchImage(image, {
      get: (name) => this.get(name, options),
      has: async (name) => {
        for await (const record of this.list(options)) if (record.name === name) return true;
        return false;
      },
    });
  }

  /**
   * Builds a template and waits until sandboxes can be created from it. Uploads the files of `copy` that the server
   * lacks, starts the build (POST /v1/templates/build), and follows its status and log. A failed build rejects with a
   * `TemplateBuildError` that has the log of the failed step.
   */
  async build(template: Template, options: TemplateBuildOptions): Promise<TemplateRecord> {
    const { buildTemplate } = await import("./template-work.js");
    return buildTemplate(this.#parts, template, options);
  }

  /**
   * Makes a template of a container image's file: a tar that `docker save` writes, or a tar of an OCI image layout
   * (POST /v1/templates/import). The file is streamed. A server of cloud-sandbox-local does this; at others, the call is a
   * `ValidationError` (IMPORT_UNAVAILABLE).
   *
   * ```ts
   * await client.templates.import("python.tar");
   * await using sandbox = await client.sandboxes.create({ template: "python:3.12-slim" });
   * ```
   */
  async import(image: ImageFile, options: TemplateImportOptions = {}): Promise<TemplateRecord> {
    const { importTemplate } = await import("./template-work.js");
    return importTemplate(this.#parts.controlPlane, image, options);
  }

  /**
   * Deletes a template of the account, by name or id (DELETE /v1/templates/{name}). Its sandboxes continue. Succeeds if
   * the template does not exist; a public template is a `PermissionDeniedError`.
   */
  async delete(nameOrId: string, options?: CallOptions): Promise<void> {
    try {
      // Look up the id, because servers delete only by id, which is a number.
      const id = /^\d+$/.test(nameOrId) ? nameOrId : (await this.get(nameOrId, options)).id;
      const init = { params: { path: { name: id } }, ...callInit(options) };
      await successOf(this.#parts.controlPlane.DELETE("/v1/templates/{name}", init));
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
    }
  }
}

function fits(record: TemplateRecord, { category, language, text }: ListTemplatesOptions): boolean {
  // Accept a template without a category: a server that knows the filter has already applied it, and need not repeat the
  // category.
  if (category !== undefined && (record.category ?? category) !== category) return false;
  // Accept "multi" and templates without a language: a server that lists them has already filtered by language.
  if (language !== undefined && ![undefined, "multi", language].includes(record.language)) return false;
  const shown = [record.name, record.displayName, record.description].join("\n");
  return text === undefined || shown.toLowerCase().includes(text.toLowerCase());
}
