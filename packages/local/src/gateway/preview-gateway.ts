import { type IncomingMessage, type OutgoingHttpHeaders, request, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { tokenIssuer } from "@cloud-sandbox/protocol";
import { originForm, Problem } from "@cloud-sandbox/server-kit";
import { bearerToken } from "@cloud-sandbox/server-kit/handlers";
import { bodyOf, disconnectSignal, exchange, framing, passOn } from "../relay/exchange.js";
import { accountHeaders, claimsOf, isOriginWide, messageHeaders } from "../relay/forwarded-headers.js";
import type { Machine } from "../runtime/sandbox-runtime.js";
import type { SandboxToken } from "../tokens/token-issuer.js";
import type { AgentGateway } from "./agent-gateway.js";
import { portClosed, refuse } from "./refusal.js";
import type { SandboxLinks } from "./sandbox-links.js";
import type { Visit } from "./sandbox-visits.js";

export interface PreviewGatewayOptions {
  readonly agents: Pick<AgentGateway, "running" | "connection" | "checkAlive" | "explain">;
  /** A token for a sandbox's agent, which relays to its ports. */
  readonly issueToken: (sandboxId: string) => Promise<SandboxToken>;
  readonly isAccountKey: (text: string) => boolean;
  /** The protocol with which a visitor of this `Host` reached the server, or the proxy before it. Default: http. */
  readonly protocolFor?: (host: string | undefined) => "http" | "https";
  /** Checks links. Undefined if previews are public. */
  readonly links?: Pick<SandboxLinks, "requirePort"> | undefined;
}

/** A cached token is replaced when it is valid for less than this. */
const renewBeforeMs = 60_000;

/**
 * Forwards HTTP and WebSocket requests to servers on ports inside a sandbox. As in the cloud, previews need no key: anyone
 * who knows the address may use them, or, if they are private, anyone who has a link. Each request has its own connection.
 */
export class PreviewGateway {
  readonly #tokens = new WeakMap<Machine, SandboxToken>();

  constructor(private readonly options: PreviewGatewayOptions) {}

  /** Answers an HTTP request for a port of a sandbox. */
  handle(request: IncomingMessage, response: ServerResponse, target: PreviewTarget): Promise<void> {
    return this.#answer(request, response, target, { to: "preview", answered: response }, {});
  }

  /** Answers a request for a WebSocket on a port of a sandbox. */
  handleUpgrade(request: IncomingMessage, response: ServerResponse, target: PreviewTarget): Promise<void> {
    const visit: Visit = { to: "preview-socket", answered: undefined };
    return this.#answer(request, response, target, visit, { connection: "Upgrade", upgrade: "websocket" });
  }

  async #answer(
    request: IncomingMessage,
    response: ServerResponse,
    target: PreviewTarget,
    visit: Visit,
    upgrade: OutgoingHttpHeaders,
  ): Promise<void> {
    try {
      const { links } = this.options;
      if (links) {
        const { socket } = request;
        await links.requirePort(tokenIn(request, target), target, {
          socket,
          answered: visit.answered ?? socket,
        });
        if (beginsVisit(target)) return beginVisit(request, response, target);
      }
      const machine = await this.options.agents.running(target.sandboxId, visit);
      if (!(target.port > 0 && target.port < 65_536)) throw portNeeded(machine.id, request.headers.host);
      if (target.path.startsWith("/")) await this.#forward(request, response, machine, target, upgrade);
      else {
        // Redirect to the path with its final slash: without it, relative links on the page would not work.
        response.writeHead(308, { location: `${target.prefix}/${target.path}`, "content-length": 0 }).end();
        request.resume();
      }
    } catch (error) {
      refuse(request, response, error, { forPeople: true });
    }
  }

  async #forward(
    incoming: IncomingMessage,
    response: ServerResponse,
    machine: Machine,
    target: PreviewTarget,
    upgrade: OutgoingHttpHeaders,
  ): Promise<void> {
    const { agents, isAccountKey, protocolFor } = this.options;
    const signal = disconnectSignal(response);
    const connection = await this.#open(machine, target.port, signal);
    const body = bodyOf(incoming);
    const headers = previewRequestHeaders(
      incoming,
      target,
      isAccountKey,
      protocolFor?.(incoming.headers.host),
    );
    const call = request({
      createConnection: () => connection,
      method: incoming.method ?? "GET",
      path: target.path,
      headers: { ...headers, ...upgrade, ...framing(headers, body) },
      signal,
    });
    const answer = await exchange(call, body).catch(async (cause: unknown) => {
      if (!signal.aborted) await agents.checkAlive(machine);
      throw portUnreadable(target.port, cause);
    });
    await passOn(answer, response, previewResponseHeaders(answer.message, target, incoming.headers.host));
  }

  async #open(machine: Machine, port: number, signal: AbortSignal): Promise<Duplex> {
    const { agents } = this.options;
    const token = await this.#token(machine);
    const { message, connection } = await agents
      .connection(machine)
      .openPort(port, `Bearer ${token}`, signal)
      .catch((error: unknown) => agents.explain(machine, signal, error));
    if (connection && message.statusCode === 200) return connection;
    connection?.destroy();
    throw portClosed(port, message.statusCode);
  }

  async #token(machine: Machine): Promise<string> {
    const kept = this.#tokens.get(machine);
    if (kept && kept.expiresAt.getTime() - renewBeforeMs > Date.now()) return kept.token;
    const issued = await this.options.issueToken(machine.id);
    this.#tokens.set(machine, issued);
    return issued.token;
  }
}

function portNeeded(sandboxId: string, host: string | undefined): Problem {
  const at = host?.match(/:\d+$/)?.[0] ?? "";
  const message = `The address of a preview needs a port from 1 to 65535: http://<port>-${sandboxId}.localhost${at}/, or the path /preview/${sandboxId}/<port>/.`;
  return new Problem(404, "NOT_FOUND", message);
}

/**
 * The problem for a server that did not answer in HTTP. Not a 5xx: clients retry those, but the request may already
 * have had its effect.
 */
const portUnreadable = (port: number, cause: unknown): Problem =>
  new Problem(409, "PORT_UNREADABLE", `The program on port ${port} of this sandbox did not answer in HTTP.`, {
    hint: "Start a web server on the port, or look at the log of the program there.",
    cause,
    details: { port },
  });

/** The sandbox, port and path that a preview request is for. */
interface PreviewTarget {
  readonly sandboxId: string;
  /** NaN if the address names no port. */
  readonly port: number;
  /** The path at the server in the sandbox, with the query. */
  readonly path: string;
  /** The part of the URL before the path, `/preview/<id>/<port>`; empty if the preview is addressed by host. */
  readonly prefix: string;
  /** The token of a link, if the path or the query has one. */
  readonly token?: string | undefined;
}

const pathPrefix = "/preview/";

/** The preview a request is for, named by its host or its path; undefined if it is not for a preview. */
export function previewTarget(request: IncomingMessage): PreviewTarget | undefined {
  const url = originForm(request);
  const host = /^(?:(\d+)-)?(\d[a-z0-9]+)\.localhost(?::\d+)?$/i.exec(request.headers.host ?? "");
  if (host?.[2] !== undefined) {
    const path = url.startsWith("/") ? url : "/";
    const token = splitPath(path).query.get(linkParameter) ?? undefined;
    return { sandboxId: host[2].toLowerCase(), port: Number(host[1]), path, prefix: "", token };
  }
  if (!url.startsWith(pathPrefix)) return undefined;
  const [, sandboxId = "", port = ""] = /^\/preview\/([^/?]*)\/?([^/?]*)/.exec(url) ?? [];
  const named = `${pathPrefix}${sandboxId}/${port}`;
  const [link = "", token] = /^\/~([\w.-]+)/.exec(url.slice(named.length)) ?? [];
  const prefix = named + link;
  return {
    sandboxId,
    port: /^\d+$/.test(port) ? Number(port) : Number.NaN,
    path: url.slice(prefix.length),
    prefix,
    token,
  };
}

const linkParameter = "sandbox_link";
const linkCookie = "sandbox_link";

/** The addresses at which a link to a port begins a visit. */
export function portLinkUrls(
  urls: PreviewUrls,
  port: number,
  token: string,
): { url: string; path_url: string } {
  const at = (template: string): string => template.replaceAll("{port}", String(port));
  const path_url = `${at(urls.preview_path_template)}~${token}/`;
  const hasHost = urls.preview_url_template !== urls.preview_path_template;
  return { url: hasHost ? `${at(urls.preview_url_template)}?${linkParameter}=${token}` : path_url, path_url };
}

/** The token of a visitor: by path it is a part of the path, by host it is in the query at first, and then in a cookie. */
function tokenIn({ headers }: IncomingMessage, { token, prefix }: PreviewTarget): string | undefined {
  if (token !== undefined || prefix !== "") return token;
  const cookies = (headers.cookie ?? "").split(/;\s*/);
  return cookies.find((cookie) => cookie.startsWith(`${linkCookie}=`))?.slice(linkCookie.length + 1);
}

/** A path may be anything that begins with a slash, and no part of an URL. */
function splitPath(path: string): { pathname: string; query: URLSearchParams } {
  const at = path.indexOf("?");
  const [pathname, query] = at === -1 ? [path, ""] : [path.slice(0, at), path.slice(at + 1)];
  return { pathname, query: new URLSearchParams(query) };
}

const beginsVisit = ({ token, prefix }: PreviewTarget): boolean => token !== undefined && prefix === "";

/** Sets the cookie of a visit, and leads to the address without the token. */
function beginVisit(
  request: IncomingMessage,
  response: ServerResponse,
  { path, token }: PreviewTarget,
): void {
  const { pathname, query } = splitPath(path);
  query.delete(linkParameter);
  const rest = query.size === 0 ? "" : `?${query}`;
  response.writeHead(303, {
    // Two slashes, of either kind, would begin another host.
    location: `${pathname.replace(/^[/\\]+/, "/")}${rest}`,
    "set-cookie": `${linkCookie}=${token}; Path=/; HttpOnly; SameSite=Lax`,
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "content-length": 0,
  });
  response.end();
  request.resume();
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

/** The headers forwarded to a server in a sandbox: the visitor's, without the account's credentials. */
export function previewRequestHeaders(
  request: IncomingMessage,
  { prefix }: PreviewTarget,
  isAccountKey: (text: string) => boolean,
  protocol: "http" | "https" = "http",
): OutgoingHttpHeaders {
  const headers = messageHeaders(request);
  for (const name of accountHeaders) delete headers[name];
  for (const name of Object.keys(headers)) {
    if (name === "forwarded" || name.startsWith("x-forwarded-")) delete headers[name];
  }
  const token = bearerToken(headers.authorization);
  if (token !== "" && (isAccountKey(token) || claimsOf(token).iss === tokenIssuer)) {
    delete headers.authorization;
  }
  // The link is the visitor's, not the program's.
  if (typeof headers.cookie === "string") {
    const others = headers.cookie.split(/;\s*/).filter((cookie) => !cookie.startsWith(`${linkCookie}=`));
    if (others.length > 0) headers.cookie = others.join("; ");
    else delete headers.cookie;
  }
  // Previews by path share one origin, so a browser sends cookies and passwords that belong to another sandbox.
  if (prefix !== "") {
    delete headers.cookie;
    if (/^(basic|digest|negotiate|ntlm)\b/i.test(String(headers.authorization))) delete headers.authorization;
  }
  return {
    ...headers,
    ...(headers.host !== undefined && { "x-forwarded-host": headers.host }),
    "x-forwarded-proto": protocol,
    ...(prefix !== "" && { "x-forwarded-prefix": prefix }),
  };
}

/** The headers forwarded from a server in a sandbox. Previews by path share one origin, so their headers that apply to a whole origin are dropped. */
export function previewResponseHeaders(
  message: IncomingMessage,
  { prefix, port, token }: PreviewTarget,
  host: string | undefined,
): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = messageHeaders(message);
  if (prefix === "") {
    if (message.headers["set-cookie"])
      headers["set-cookie"] = message.headers["set-cookie"].map(withoutDomain);
    return headers;
  }
  for (const name of Object.keys(headers)) {
    if (isOriginWide(name) && !name.startsWith("access-control-")) delete headers[name];
  }
  // The browser would keep the password for all of them.
  delete headers["www-authenticate"];
  // The path has the token of the link, which other sites must not learn.
  if (token !== undefined) headers["referrer-policy"] = "no-referrer";
  headers["content-security-policy"] = [ownOrigin, message.headers["content-security-policy"] ?? []]
    .flat()
    .join(", ");
  if (message.headers.location !== undefined) {
    headers.location = belowPrefix(message.headers.location, prefix, [
      host,
      `localhost:${port}`,
      `127.0.0.1:${port}`,
    ]);
  }
  return headers;
}

/** Gives a page an origin that no other page has, so that it reads nothing of other previews: no storage, no cookies, no answers. */
const ownOrigin = "sandbox allow-downloads allow-forms allow-modals allow-popups allow-scripts";

/** Removes `Domain`, so that the cookie applies only to the host that set it. */
const withoutDomain = (cookie: string): string => cookie.replace(/;\s*domain\s*=[^;]*/gi, "");

/** Rewrites a redirect to the server's own host so that it stays below the preview's path. */
function belowPrefix(location: string, prefix: string, ownHosts: readonly (string | undefined)[]): string {
  const [, host, rest = ""] = /^(?:https?:)?\/\/([^/?#]*)(.*)$/i.exec(location) ?? [];
  const path =
    host === undefined ? location : ownHosts.includes(host) ? `/${rest.replace(/^\//, "")}` : undefined;
  if (path === undefined || !path.startsWith("/")) return location;
  const isBelow = path === prefix || path.startsWith(`${prefix}/`);
  return isBelow ? path : prefix + path;
}
