import type { IncomingMessage } from "node:http";
import { originForm } from "@cloud-sandbox/server-kit";

/** What a request asks of which port of which sandbox. */
export interface PreviewTarget {
  readonly sandboxId: string;
  /** Not a port where it was not given as one. */
  readonly port: number;
  /** With the query. */
  readonly path: string;
  /** What was cut off before the path; empty where the preview has a host of its own. */
  readonly prefix: string;
}

const pathPrefix = "/preview/";

/** The port that a request is for, by its host or by its path; undefined where it is for none. */
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
  readonly preview_url: string;
  readonly preview_url_template: string;
  readonly preview_path_template: string;
}

/** Where the ports of a sandbox are seen, below the control plane's URL. */
export function previewUrls(sandboxId: string, base: string): PreviewUrls {
  const { port } = new URL(base);
  const at = port === "" ? "" : `:${port}`;
  return {
    preview_url: `http://${sandboxId}.localhost${at}/`,
    preview_url_template: `http://{port}-${sandboxId}.localhost${at}/`,
    preview_path_template: `${base}${pathPrefix}${sandboxId}/{port}/`,
  };
}
