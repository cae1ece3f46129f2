import type { AgentAccess } from "../agent/agent-access.js";
import { invalidArgument, SandboxError } from "../errors/errors.js";
import type { Commands } from "../execution/commands.js";
import type { WaitForPortOptions } from "./port-wait.js";

/** Which address of a port is wanted. */
export interface PreviewUrlOptions {
  /**
   * `host` (default) gives the sandbox's port a host of its own, as web applications need it; `path` puts it in the path of
   * a host that resolves everywhere, as programs without a wildcard resolver need it.
   */
  form?: "host" | "path" | undefined;
}

/** TCP ports of a sandbox. */
export class Ports {
  readonly #access: AgentAccess;
  readonly #commands: Commands;

  /** @internal */
  static of(access: AgentAccess, commands: Commands): Ports {
    return new Ports(access, commands);
  }

  private constructor(access: AgentAccess, commands: Commands) {
    this.#access = access;
    this.#commands = commands;
  }

  /**
   * Where a browser sees what listens on a port, 1 to 65535. Whoever knows the address may open it. Nothing is asked: the
   * address is the one the server named with the sandbox, else the cloud's own form. Throws a `SandboxError` with code
   * PREVIEW_UNAVAILABLE where neither is there.
   */
  previewUrl(port: number, { form = "host" }: PreviewUrlOptions = {}): string {
    const number = String(checkedPort(port));
    if (form !== "host" && form !== "path") throw invalidArgument('form must be "host" or "path".');
    const template = this.#access.previews[form];
    if (template?.includes("{port}")) return template.replaceAll("{port}", number);
    const cloud = form === "host" ? cloudPreview(this.#access.publicHost, number) : undefined;
    if (cloud !== undefined) return cloud;
    throw new SandboxError({
      summary: `Sandbox ${this.#access.sandboxId} has no address for its ports${form === "path" ? " by path" : ""}.`,
      hint: "Its server offers no previews, or it is not running yet; refresh() asks again.",
      code: "PREVIEW_UNAVAILABLE",
    });
  }

  /**
   * Waits until something in the sandbox accepts connections on a port (one POST /commands/run, which needs bash there).
   * Rejects with a `TimeoutError` of kind `execution` when nothing has.
   */
  async waitForPort(port: number, options: WaitForPortOptions = {}): Promise<void> {
    checkedPort(port);
    const { waitForPort } = await import("./port-wait.js");
    await waitForPort(this.#commands, port, options);
  }
}

/** `https://7777-<id>.<region>.vms.hopx.dev` has its ports as the first number of its name. */
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
