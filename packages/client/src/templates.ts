import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import { type CallOptions, callInit } from "./call-options.js";
import { bodyOf, type ControlPlaneClient } from "./contract-clients.js";
import { given } from "./given.js";
import { identifier } from "./identifier.js";
import { PaginatedList } from "./paginated-list.js";
import { date } from "./sandbox-record.js";

export type TemplateStatus = ControlPlaneSchemas["TemplateStatus"];

/** What sandboxes are made from. */
export interface Template {
  /** A number, as text. */
  id: string;
  name: string;
  displayName: string | undefined;
  description: string | undefined;
  category: string | undefined;
  language: string | undefined;
  status: TemplateStatus | undefined;
  /** Whether sandboxes can be made from it. */
  isActive: boolean | undefined;
  isPublic: boolean | undefined;
  /** What its sandboxes may use. */
  resources: { vcpu: number | undefined; memoryMb: number | undefined; diskGb: number | undefined };
  /** What its sandboxes can do; only `get` tells. */
  features: string[];
  createdAt: Date | undefined;
  updatedAt: Date | undefined;
}

export interface ListTemplatesOptions extends CallOptions {
  category?: string | undefined;
  language?: string | undefined;
  /** Templates per page. Default: all at once. */
  limit?: number | undefined;
}

/** The public templates and those of the account. */
export class Templates {
  readonly #controlPlane: ControlPlaneClient;

  /** @internal */
  static of(controlPlane: ControlPlaneClient): Templates {
    return new Templates(controlPlane);
  }

  private constructor(controlPlane: ControlPlaneClient) {
    this.#controlPlane = controlPlane;
  }

  /** All of them, or those of a category or language (GET /v1/templates). */
  list(options: ListTemplatesOptions = {}): PaginatedList<Template> {
    const { category, language, limit } = options;
    return PaginatedList.of(async (cursor) => {
      const query = given({ category, language, limit, cursor });
      const page = await bodyOf(
        this.#controlPlane.GET("/v1/templates", { params: { query }, ...callInit(options) }),
      );
      const items = (page.data ?? []).map(template);
      return { items, hasMore: page.has_more ?? false, nextCursor: page.next_cursor || undefined };
    });
  }

  /** One, by its name or its id (GET /v1/templates/{name}). */
  async get(nameOrId: string, options?: CallOptions): Promise<Template> {
    const init = { params: { path: { name: identifier("template", nameOrId) } }, ...callInit(options) };
    return template(await bodyOf(this.#controlPlane.GET("/v1/templates/{name}", init), "id", "name"));
  }
}

function template(wire: ControlPlaneSchemas["Template"]): Template {
  const { default_resources: resources } = wire;
  return {
    id: wire.id,
    name: wire.name,
    displayName: wire.display_name,
    description: wire.description,
    category: wire.category,
    language: wire.language,
    status: wire.status,
    isActive: wire.is_active,
    isPublic: wire.is_public,
    resources: { vcpu: resources?.vcpu, memoryMb: resources?.memory_mb, diskGb: resources?.disk_gb },
    features: wire.features ?? [],
    createdAt: date(wire.created_at),
    updatedAt: date(wire.updated_at),
  };
}
