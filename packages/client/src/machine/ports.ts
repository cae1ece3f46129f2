import type { AgentAccess } from "../agent/agent-access.js";
import type { SandboxLinks } from "../agent/sandbox-links.js";
import { type CallOptions, callOptionNames, checkKnown } from "../config/options.js";
import { invalidArgument, SandboxError } from "../errors/errors.js";
import type { Commands } from "../execution/commands.js";
import type { PortForward, PortForwardOptions } from "./port-forward.js";
import { type WaitForPortOptions, waitForPort } from "./port-wait.js";

/** Options of `previewUrl`. */
export interface PreviewUrlOptions {
  /**
   * `host` (default): a URL with a host name per port, which web applications need. `path`: a URL with the port in its
   * path, for programs that cannot resolve wildcard host names.
   */
  form?: "host" | "path" | undefined;
}

/** Options of a link to a port. */
export interface PreviewLinkOptions extends PreviewUrlOptions, CallOptions {
  /** Seconds until the link expires, 1 to 604,800 (a week). A visit that has begun ends then too. */
  expiresInSeconds: number;
}

/** The TCP ports of a sandbox. */
export class Ports {
  readonly #access: AgentAccess;
  readonly #commands: Commands;
  readonly #links: SandboxLinks;

  /** @internal */
  static of(access: AgentAccess, commands: Commands, links: SandboxLinks): Ports {
    return new Ports(access, commands, links);
  }

  private constructor(access: AgentAccess, commands: Commands, links: SandboxLinks) {
    this.#access = access;
    this.#commands = commands;
    this.#links = links;
  }

  /**
   * Makes a link to a port of a sandbox whose previews are private (POST /v1/sandboxes/{id}/links). Whoever has it may open the port, until
   * it expires, the sandbox is gone, its API key is revoked, or `revoke()` is called. By host name it sets a cookie for that host alone. If
   * the server's previews are public, a `ConflictError`. An extension: on the cloud, a `NotFoundError`.
   */
  previewUrl(port: number, options: PreviewLinkOptions): Promise<string>;
  /**
   * The public URL of a port, 1 to 65535. Anyone who knows the URL can open it. Makes no request: the URL comes from the
   * server's description of the sandbox, else from the cloud's naming scheme. Throws a `SandboxError`
   * (PREVIEW_UNAVAILABLE) if there is neither.
   */
  previewUrl(port: number, options?: PreviewUrlOptions): string;
  previewUrl(port: number, options: PreviewUrlOptions | PreviewLinkOptions = {}): string | Promise<string> {
    const { form = "host", ...link } = options;
    const number = String(checkedPort(port));
    if (form !== "host" && form !== "path") throw invalidArgument('form must be "host" or "path".');
    if ("expiresInSeconds" in link && link.expiresInSeconds !== undefined)
      return this.#links
        .make("previewUrl", { kind: "port", port }, link)
        .then(({ url, path_url }) => (form === "path" ? (path_url ?? url) : url));
    checkKnown<PreviewUrlOptions>("previewUrl", options, { form: true });
    const template = this.#access.previews[form];
    if (template?.includes("{port}")) return template.replaceAll("{port}", number);
    const cloud = form === "host" ? cloudPreview(this.#access.publicHost, number) : undefined;
    if (cloud !== undefined) return cloud;
    throw new SandboxError({
      summary: `Sandbox ${this.#access.sandboxId} has no address for its ports${form === "path" ? " by path" : ""}.`,
      hint: "The sandbox's server offers no previews, or the sandbox is not running yet; refresh() asks again.",
      code: "PREVIEW_UNAVAILABLE",
    });
  }

  /**
   * Revokes all links to ports and files of the sandbox, with the visits that have begun (DELETE /v1/sandboxes/{id}/links). Links that are
   * made later are valid.
   */
  async revoke(options?: CallOptions): Promise<void> {
    checkKnown("ports.revoke", options, callOptionNames);
    await this.#links.revoke(options);
  }

  /**
   * Listens on a port of this machine, and forwards each connection to a port of the sandbox, 1 to 65535, for protocols
   * other than HTTP: `psql -p` of the result's `localPort` reaches a database in the sandbox. Each connection needs the
   * sandbox's token, unlike a preview. An extension that needs Node.js: elsewhere and on the cloud, rejects with a
   * `SandboxError` (PORT_FORWARD_UNAVAILABLE); if this machine's port cannot be listened on, with LOCAL_PORT_UNAVAILABLE, and if
   * it lacks the address, with LOCAL_ADDRESS_UNAVAILABLE.
   */
  async forward(port: number, options: PortForwardOptions = {}): Promise<PortForward> {
    checkedPort(port);
    const { PortForward } = await import("./port-forward.js");
    return PortForward.of(this.#access, port, options);
  }

  /**
   * Waits until a program in the sandbox accepts connections on a port (one POST /commands/run, which needs bash in the
   * template). Rejects with a `TimeoutError` of kind `execution` if none does in time.
   */
  async waitForPort(port: number, options: WaitForPortOptions = {}): Promise<void> {
    checkedPort(port);
    await waitForPort(this.#commands, port, options);
  }
}

/** The cloud's URL of a port: its host names start with a port, as in `https://7777-<id>.<region>.vms.hopx.dev`. */
function cloudPreview(publicHost: string | undefined, port: string): string | undefined {
  if (publicHost === undefined || !URL.canParse(publicHost)) return undefined;
  const { hostname } = new URL(publicHost);
  if (!hostname.endsWith(".vms.hopx.dev")) return undefined;
  return `https://${port}-${hostname.replace(/^\d+-/, "")}/`;
}

function checkedPort(port: number): number {
  if (Number.isInteger(port) && port >= 1 && port <= 65_535) return port;
  throw invalidArgument(`A port is a whole number from 1 to 65535; it is ${port}.`);
}
