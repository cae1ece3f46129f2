import type { AgentAccess } from "../agent/agent-access.js";
import {
  type CallOptions,
  callOptionNames,
  checkKnown,
  checkText,
  checkWhole,
  omitUndefined,
  requestInit,
} from "../config/options.js";
import { readBody } from "../transport/contract-clients.js";

/** Options of `desktop.browser`. */
export interface BrowserOptions extends CallOptions {
  /** Page to open: an address with http, https, file, data or about. Default: a blank page. */
  url?: string | undefined;
  /** Seconds until the address expires and its connections are closed, 10 to 86400. Default 3600. */
  expiresInSeconds?: number | undefined;
}

/** How to reach the browser of a desktop. */
export interface BrowserAccess {
  /** Address of the DevTools protocol, with a token: `ws://…`, or `wss://…` if the server's address is https. */
  url: string;
  /** Port in the sandbox that serves it. */
  port: number;
  expiresAt: Date;
}

export async function startBrowser(access: AgentAccess, options: BrowserOptions): Promise<BrowserAccess> {
  checkKnown("desktop.browser", options, { ...callOptionNames, url: true, expiresInSeconds: true });
  const { url: page, expiresInSeconds } = options;
  checkText("url", page);
  checkWhole("expiresInSeconds", expiresInSeconds, 10, 86_400);
  const body = omitUndefined({ url: page, expires_in: expiresInSeconds });
  const pending = access.client.POST("/desktop/browser", { body, ...requestInit(options) });
  return readBody(pending, ({ url, port, expires_at }) => ({ url, port, expiresAt: new Date(expires_at) }));
}
