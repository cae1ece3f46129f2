import type { IncomingMessage } from "node:http";
import { originForm } from "@cloud-sandbox/server-kit";

/** The sandbox, port and path that a preview request is for. */
export interface PreviewTarget {
  readonly sandboxId: string;
  /** NaN if the address names no port. */
  readonly port: number;
  /** The path at the server in the sandbox, with the query. */
  readonly path: string;
  /** The part of the URL before the path, `/preview/<id>/<port>`; empty if the preview is addressed by host. */
  readonly prefix: string;
}

const pathPrefix = "/preview/";

/** The preview a request is for, named by its host or its path; undefined if it is not for a preview. */
export function previewTarget(request: IncomingMessage): PreviewTarget | undefined {
  const url = originForm(request);
  const host = /^(?:(\d+)-)?(\d[a-z0-9]+)\.localhost(?::\d+)?$/i.exec(request.headers.host ?? "");
  if (host?.[2] !== undefined) {
    const path = url.startsWith("/") ? url : "/";
    return { sandboxId: host[2].toLowerCase(), port: Number(host[1]), path, prefix: "" };
  }
  if (!url.startsWith(pathPrefix)) return undefined;
  const [, sandboxId = "", port = ""] = /^\/preview\/([^/?]*)\/?([^/?]*)/.exec(url) ?? [];
  const prefix = `${pathPrefix}${sandboxId}/${port}`;
  return {
    sandboxId,
    port: /^\d+$/.test(port) ? Number(port) : Number.NaN,
    path: url.slice(prefix.length),
    prefix,
  };
}

export interface PreviewUrls {
  readonly preview_url?: string;
  readonly preview_url_template: string;
  readonly preview_path_template: string;
}

/** The preview addresses of a sandbox. `base` is the control plane's URL. */
export function previewUrls(sandboxId: string, base: string, isPublic = false): PreviewUrls {
  const { port } = new URL(base);
  const at = port === "" ? "" : `:${port}`;
  const byPath = `${base}${pathPrefix}${sandboxId}/{port}/`;
  // Callers elsewhere have another localhost, so for them there are only addresses by path.
  if (isPublic) return { preview_url_template: byPath, preview_path_template: byPath };
  return {
    preview_url: `http://${sandboxId}.localhost${at}/`,
    preview_url_template: `http://{port}-${sandboxId}.localhost${at}/`,
    preview_path_template: byPath,
  };
}
