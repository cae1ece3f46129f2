import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { originForm, Problem } from "@cloud-sandbox/server-kit";
import { bodyOf, disconnectSignal, framing, passOn } from "../relay/exchange.js";
import { forwardedResponseHeaders } from "../relay/forwarded-headers.js";
import type { SandboxRecord } from "../sandboxes/sandbox-record.js";
import type { SandboxToken } from "../tokens/token-issuer.js";
import type { AgentGateway } from "./agent-gateway.js";
import type { OpenCall, OpenCalls } from "./open-calls.js";
import { refuse } from "./refusal.js";

/** What a link leads to. */
export type LinkTarget =
  | { readonly kind: "port"; readonly port: number }
  | { readonly kind: "download" | "upload"; readonly path: string };

/** A link, as its token has it: in short names, because it is a part of an address. */
interface Claims {
  /** The sandbox. */
  readonly s: string;
  /** The API key that made it; missing for the server's own. */
  readonly k?: string;
  readonly t: LinkTarget;
  /** When it was made and when it expires, in milliseconds since 1970. */
  readonly i: number;
  readonly e: number;
}

type LinkedCall = Omit<OpenCall, "isAllowed">;

interface SandboxLinksParts {
  readonly agents: Pick<AgentGateway, "send">;
  /** The key that signs links. */
  readonly secret: () => Promise<string>;
  readonly issueToken: (sandboxId: string) => Promise<SandboxToken>;
  /** The sandbox; throws the problem that says why there is none. */
  readonly find: (sandboxId: string) => Pick<SandboxRecord, "id" | "linksRevokedAt">;
  readonly isUsable: (keyId: string | undefined) => boolean;
  readonly openCalls: Pick<OpenCalls, "add">;
}

const prefix = "/v1/links/";

/** Links to ports and files of sandboxes, for whoever has them. A link is a signed text, and nothing is kept of it. */
export class SandboxLinks {
  constructor(private readonly parts: SandboxLinksParts) {}

  /** Makes the token of a link. */
  async make(
    sandboxId: string,
    target: LinkTarget,
    { keyId, seconds }: { readonly keyId: string | undefined; readonly seconds: number },
  ): Promise<{ readonly token: string; readonly expiresAt: Date }> {
    const { linksRevokedAt } = this.parts.find(sandboxId);
    // In the millisecond of a revocation, a link would count as an earlier one.
    const made = Math.max(Date.now(), Number(linksRevokedAt ?? 0) + 1);
    const expires = made + seconds * 1000;
    const claims: Claims = {
      s: sandboxId,
      ...(keyId !== undefined && { k: keyId }),
      t: target,
      i: made,
      e: expires,
    };
    const text = Buffer.from(JSON.stringify(claims)).toString("base64url");
    return { token: `${text}.${await this.#signature(text)}`, expiresAt: new Date(expires) };
  }

  /** The address of a link to a file. */
  fileUrl(base: string, token: string): string {
    return `${base}${prefix}${token}`;
  }

  /** Whether a request is for a link to a file. */
  handles({ url = "" }: IncomingMessage): boolean {
    return url.startsWith(prefix);
  }

  /** Answers a request for a link to a file. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const token = originForm(request).slice(prefix.length).split("?")[0] ?? "";
      const { sandboxId, target } = await this.#open(token, { socket: request.socket, answered: response });
      const signal = disconnectSignal(response);
      if (target.kind === "port") throw notValid();
      const isUpload = target.kind === "upload";
      const methods = isUpload ? ["PUT"] : ["GET", "HEAD"];
      const { method = "" } = request;
      if (!methods.includes(method)) throw otherMethod(methods);
      const issued = await this.parts.issueToken(sandboxId);
      const body = isUpload ? (bodyOf(request) ?? "") : undefined;
      const { "content-length": length, range } = request.headers;
      const own = isUpload
        ? {
            "content-type": "application/octet-stream",
            ...(length !== undefined && { "content-length": length }),
          }
        : { ...(range !== undefined && { range }) };
      const headers = { authorization: `Bearer ${issued.token}`, ...own };
      const path = `/files/${target.kind}?path=${encodeURIComponent(target.path)}`;
      const message = await this.parts.agents.send(
        sandboxId,
        {
          method: isUpload ? "POST" : method,
          path,
          headers: { ...headers, ...framing(headers, body) },
          body,
          signal,
        },
        { to: "agent", path, authorization: headers.authorization, answered: response },
      );
      await passOn({ message, connection: undefined }, response, {
        ...forwardedResponseHeaders(message),
        // The file may be a page of a stranger, and this is the origin of the control plane.
        "content-security-policy": "sandbox",
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cache-control": "no-store",
      });
    } catch (error) {
      refuse(request, response, error, { forPeople: true });
    }
  }

  /** Throws a 401 problem unless the token is that of a link to this port. The call is cut when the link ends. */
  async requirePort(
    token: string | undefined,
    { sandboxId, port }: { readonly sandboxId: string; readonly port: number },
    call: LinkedCall,
  ): Promise<void> {
    if (token === undefined) throw linkNeeded();
    const { sandboxId: linked, target } = await this.#open(token, call);
    if (linked !== sandboxId || target.kind !== "port" || target.port !== port) throw notValid();
  }

  async #open(
    token: string,
    call: LinkedCall,
  ): Promise<{ readonly sandboxId: string; readonly target: LinkTarget }> {
    const [text = "", signature = ""] = token.split(".");
    const expected = Buffer.from(await this.#signature(text));
    const actual = Buffer.from(signature);
    if (actual.length !== expected.length || !timingSafeEqual(actual, expected)) throw notValid();
    const claims = JSON.parse(Buffer.from(text, "base64url").toString("utf8")) as Claims;
    const { s, t, e } = claims;
    const isExpired = (): boolean => e <= Date.now();
    const sandbox = this.parts.find(s);
    if (isExpired() || this.#isRevoked(claims, sandbox)) throw notValid();
    // The transfer of a file that has begun may end.
    const lasts = (): boolean => t.kind !== "port" || !isExpired();
    const isAllowed = (): boolean => lasts() && !this.#isRevoked(claims, sandbox);
    this.parts.openCalls.add({ ...call, isAllowed });
    return { sandboxId: s, target: t };
  }

  #isRevoked({ i, k }: Claims, { linksRevokedAt }: Pick<SandboxRecord, "linksRevokedAt">): boolean {
    return i <= Number(linksRevokedAt ?? 0) || !this.parts.isUsable(k);
  }

  async #signature(text: string): Promise<string> {
    return createHmac("sha256", await this.parts.secret())
      .update(text)
      .digest("base64url");
  }
}

const linkNeeded = (): Problem =>
  new Problem(401, "AUTHENTICATION_REQUIRED", "This preview is private: it opens by its link.", {
    hint: "Whoever has an API key of the server makes one: sandbox.ports.previewUrl(port, { expiresInSeconds }).",
  });

const notValid = (): Problem =>
  new Problem(401, "INVALID_TOKEN", "This link has expired, was revoked, or is for something else.", {
    hint: "Ask whoever sent it for another one.",
  });

const otherMethod = (methods: readonly string[]): Problem =>
  new Problem(405, "METHOD_NOT_ALLOWED", `This link is for ${methods[0]}.`, {
    headers: { allow: methods.join(", ") },
  });
