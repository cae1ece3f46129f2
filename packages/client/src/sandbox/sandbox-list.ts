import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import {
  type CallOptions,
  callOptionNames,
  checkKnown,
  checkOneOf,
  checkText,
  checkTexts,
  checkWhole,
  type OptionNames,
  omitUndefined,
  requestInit,
} from "../config/options.js";
import { PaginatedList } from "../config/paginated-list.js";
import { asText } from "../transport/answer-fields.js";
import { type ControlPlaneClient, readBody } from "../transport/contract-clients.js";
import type { SandboxStatus } from "./sandbox-record.js";

/** Filters of `sandboxes.list`. */
export interface ListSandboxesOptions extends CallOptions {
  /** Only sandboxes with this status. */
  status?: SandboxStatus | undefined;
  /** Only sandboxes in this region. */
  region?: string | undefined;
  /** Only sandboxes with this name. */
  name?: string | undefined;
  /** Only sandboxes that have all of these labels. */
  metadata?: Readonly<Record<string, string>> | undefined;
  /** Sandboxes per page, 1 to 1,000; does not limit the total. Default: the server's, which is 100. */
  limit?: number | undefined;
}

const listOptionNames: OptionNames<ListSandboxesOptions> = {
  ...callOptionNames,
  status: true,
  region: true,
  name: true,
  metadata: true,
  limit: true,
};

const statuses: readonly SandboxStatus[] = ["creating", "running", "paused", "stopped", "error", "deleted"];

type WireSandbox = ControlPlaneSchemas["Sandbox"];

/**
 * Lists sandboxes page by page. Filters by `name` and `metadata` again here, because a server that does not know these
 * filters ignores them.
 */
export function listSandboxes<Item>(
  controlPlane: ControlPlaneClient,
  options: ListSandboxesOptions,
  items: () => Promise<(wire: WireSandbox) => Item>,
): PaginatedList<Item> {
  const { status, region, name, metadata, limit } = options ?? {};
  return PaginatedList.of(async (cursor) => {
    checkFilters(options);
    const itemOf = await items();
    const labels = metadata && new URLSearchParams(metadata).toString();
    const query = omitUndefined({ status, region, name, metadata: labels, limit, cursor });
    const init = { params: { query }, ...requestInit(options) };
    return readBody(controlPlane.GET("/v1/sandboxes", init), ({ data, has_more, next_cursor }) => {
      const found = (data ?? []).filter((wire) => hasName(wire, name) && hasLabels(wire, metadata));
      return {
        items: found.map(itemOf),
        hasMore: has_more ?? false,
        nextCursor: asText(next_cursor ?? "") || undefined,
      };
    });
  });
}

function checkFilters(options: ListSandboxesOptions): void {
  checkKnown("list", options, listOptionNames);
  const { status, region, name, metadata, limit } = options;
  for (const [option, text] of Object.entries({ region, name })) checkText(option, text);
  checkOneOf("status", status, statuses);
  checkTexts("metadata", metadata);
  checkWhole("limit", limit, 1, 1000);
}

function hasName(wire: WireSandbox, name: string | undefined): boolean {
  return name === undefined || wire.name === name;
}

function hasLabels({ metadata }: WireSandbox, labels: ListSandboxesOptions["metadata"] = {}): boolean {
  return Object.entries(labels).every(([label, value]) => metadata?.[label] === value);
}
