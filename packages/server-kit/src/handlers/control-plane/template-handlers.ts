import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import type { ControlPlaneContract } from "../../generated/control-plane-contract.js";
import { type Exchange, type NodeExchange, Reply } from "../../http/exchange.js";
import type { Handlers } from "../../router/handlers.js";
import { pageOf } from "../../router/page.js";
import { type BuildRecord, hasEnded, invalidBuild, templateNameIsNumber } from "./builds.js";
import { templateNotFound } from "./sandbox-problems.js";
import { templateListItemOnWire, templateOnWire } from "./template-answers.js";
import type { TemplateFacts } from "./template-facts.js";

/** The facts about a build that callers may see, and its log. */
export interface BuildFacts {
  readonly record: BuildRecord;
  readonly log: {
    readonly text: string;
    /** Resolves at the next change of the log or the build's status, or when the signal aborts. */
    changed(signal: AbortSignal): Promise<void>;
  };
}

/** What a caller says of an image that becomes a template. */
export interface ImageSpec {
  /** Name of the template. Undefined for the image's own. */
  readonly name: string | undefined;
  /** Whether a template of this name is replaced. */
  readonly update: boolean;
}

export interface TemplateHandlersOptions<
  Template extends TemplateFacts,
  Over extends Exchange = NodeExchange,
> {
  readonly templates: {
    list(): readonly Template[];
    /** Finds a template by name or by id: clients use either. */
    find(nameOrId: string): Template | undefined;
    /** Notable packages, each with its version, that every template but an imported image has. */
    packages(): Promise<readonly string[]>;
  };
  readonly builds: {
    start(request: ControlPlaneSchemas["TemplateBuildRequest"]): Promise<BuildRecord>;
    /** Finds a build by its own id or by its template's. */
    find(id: string): BuildFacts;
    remove(template: Template): Promise<void>;
  };
  /** Makes templates of images. Undefined if this server does not; the operation is then 404. */
  readonly imports?: {
    receive(spec: ImageSpec, body: Over["request"], signal: AbortSignal): Promise<Template>;
  };
  readonly uploads: {
    grant(hash: string, length: number): { readonly grant: string; readonly expiresAt: Date };
    receive(hash: string, grant: string, body: Over["request"]): Promise<{ readonly size: number }>;
  };
  /** URL of this server for a caller that reached it as `host`. */
  readonly baseUrl: (host: string | undefined) => string;
  /** Turns pieces of text into the stream type of this server. */
  readonly stream: (pieces: AsyncGenerator<string>) => Over["stream"];
}

type TemplateOperations =
  | "listTemplates"
  | "getTemplate"
  | "deleteTemplate"
  | "buildTemplate"
  | "getTemplateBuildStatus"
  | "getTemplateBuildLogs"
  | "createUploadLink"
  | "uploadTemplateFiles"
  | "importTemplate";

/**
 * The operations on templates. Their answers about builds contain no fields beyond the contract's, because some clients
 * reject unknown fields.
 */
export function templateHandlers<Template extends TemplateFacts, Over extends Exchange = NodeExchange>({
  templates,
  builds,
  imports,
  uploads,
  baseUrl,
  stream,
}: TemplateHandlersOptions<Template, Over>): Pick<
  Handlers<ControlPlaneContract, unknown, Over>,
  TemplateOperations
> {
  const known = (nameOrId: string): Template => {
    const template = templates.find(nameOrId);
    if (template) return template;
    throw templateNotFound(
      nameOrId,
      templates.list().map(({ name }) => name),
    );
  };

  return {
    listTemplates: ({ query, requestId }) => {
      const matching = templates
        .list()
        .filter(({ category }) => query.category === undefined || category === query.category)
        .filter(
          ({ languages }) => !query.language || languages.some(({ language }) => language === query.language),
        );
      const { items, nextCursor } = pageOf(matching, placeInList, {
        limit: query.limit ?? -1,
        cursor: query.cursor,
      });
      return {
        object: "list",
        data: items
          .map((item) => templateListItemOnWire(item, query.language))
          .map((item) => selectFields(item, query.fields)),
        has_more: nextCursor !== undefined,
        ...(nextCursor !== undefined && { next_cursor: nextCursor }),
        url: "/v1/templates",
        request_id: requestId,
      };
    },

    getTemplate: async ({ params, requestId }) => {
      const template = known(params.name);
      const packages = template.built?.isImage ? [] : await templates.packages();
      return templateOnWire(template, packages, requestId);
    },

    deleteTemplate: async ({ params, requestId }) => {
      const template = known(params.name);
      await builds.remove(template);
      return { id: template.id, object: "template", deleted: true, request_id: requestId };
    },

    buildTemplate: async ({ body, header, requestId }) => {
      if (/^\d+$/.test(body.name)) throw templateNameIsNumber(body.name);
      const { id, templateId, status } = await builds.start(body);
      return {
        build_id: id,
        template_id: templateId,
        status,
        logs_url: `${baseUrl(header("host"))}/v1/templates/build/${id}/logs`,
        request_id: requestId,
      };
    },

    getTemplateBuildStatus: ({ params, requestId }) => statusOnWire(builds.find(params.buildID), requestId),

    getTemplateBuildLogs: ({ params, query, header, signal, requestId }) => {
      const build = builds.find(params.buildID);
      const offset = query.offset ?? 0;
      if (header("accept")?.includes("text/event-stream")) {
        const headers = { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store" };
        return new Reply(stream(logEvents(build, offset, signal)), headers);
      }
      const { text } = build.log;
      return {
        logs: text.slice(offset),
        offset: Math.max(offset, text.length),
        status: build.record.status,
        complete: hasEnded(build.record),
        request_id: requestId,
      };
    },

    ...(imports && {
      importTemplate: async ({ query, request, requestId, signal }) => {
        const { name, update = false } = query;
        if (name !== undefined && /^\d+$/.test(name)) throw templateNameIsNumber(name);
        const template = await imports.receive({ name, update }, request, signal);
        return templateOnWire(template, [], requestId);
      },
    }),

    createUploadLink: ({ body, header, requestId }) => {
      const { files_hash: hash, content_length: length } = body;
      const { grant, expiresAt } = uploads.grant(hash, length);
      return {
        // Always ask for the upload. Clients do not include the content of directories in the hash, so files uploaded
        // earlier under the same hash may be outdated.
        present: false,
        upload_url: `${baseUrl(header("host"))}/v1/templates/files/${encodeURIComponent(hash)}?grant=${grant}`,
        expires_at: expiresAt.toISOString(),
        files_hash: hash,
        request_id: requestId,
      };
    },

    uploadTemplateFiles: async ({ params, query, request, requestId }) => {
      if (!query.grant)
        throw invalidBuild("The upload link is incomplete: it has no grant.", "Ask for an upload link.");
      const { size } = await uploads.receive(params.files_hash, query.grant, request);
      return { files_hash: params.files_hash, size, request_id: requestId };
    },
  };
}

function statusOnWire({ record }: BuildFacts, requestId: string): ControlPlaneSchemas["TemplateBuildStatus"] {
  const { id, templateId, status, progress, currentStep, startedAt, completedAt, error } = record;
  return {
    build_id: id,
    template_id: templateId,
    status,
    progress,
    current_step: currentStep,
    started_at: startedAt,
    ...(completedAt !== undefined && {
      completed_at: completedAt,
      build_duration_ms: Date.parse(completedAt) - Date.parse(startedAt),
    }),
    ...(error !== undefined && { error_message: error }),
    request_id: requestId,
  };
}

/** Yields server-sent events: one for each complete log line while the build runs, and `done` as the last. */
async function* logEvents(build: BuildFacts, start: number, signal: AbortSignal): AsyncGenerator<string> {
  let offset = start;
  while (!signal.aborted) {
    // Start to listen before the log is read, so that no change in between is missed.
    const changed = build.log.changed(signal);
    const { text } = build.log;
    const isOver = hasEnded(build.record);
    const end = isOver ? text.length : text.lastIndexOf("\n") + 1;
    const timestamp = new Date().toISOString();
    const lines = text.slice(offset, end).split("\n");
    for (const message of lines.filter((line) => line !== ""))
      yield `event: log\ndata: ${JSON.stringify({ level: "info", message, timestamp })}\n\n`;
    offset = Math.max(offset, end);
    if (isOver) {
      yield `event: done\ndata: ${JSON.stringify({ status: build.record.status })}\n\n`;
      return;
    }
    await changed;
  }
}

/**
 * Sort key. The list is in descending order: the server's own templates first, those of a purpose such as a desktop after those that
 * are for any program, then built ones that are active, then the others.
 */
function placeInList({ name, category, built }: TemplateFacts): string {
  const isGeneral = category === "development" || category === "operating-system";
  const rank = built === undefined ? (isGeneral ? 3 : 2) : built.status === "active" ? 1 : 0;
  return `${rank} ${name}`;
}

/** Keeps only the requested fields; `id` and `name` are always kept. */
function selectFields(
  item: ControlPlaneSchemas["TemplateListItem"],
  fields: string | undefined,
): ControlPlaneSchemas["TemplateListItem"] {
  if (fields === undefined || fields === "all") return item;
  const wanted = new Set(["id", "name", ...fields.split(",").map((field) => field.trim())]);
  const kept = Object.entries(item).filter(([name]) => wanted.has(name));
  return { ...Object.fromEntries(kept), id: item.id, name: item.name };
}
