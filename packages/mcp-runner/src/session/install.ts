/** Installs a server: once, in a template from which later sandboxes start, or else in each sandbox. */
import { createHash } from "node:crypto";
import {
  ApiError,
  AuthenticationError,
  ConflictError,
  isSandboxError,
  NotFoundError,
  type Sandbox,
  type SandboxClient,
  ServerError,
  Template,
  TemplateBuildError,
  ValidationError,
} from "cloud-sandbox";
import type { McpServerConfiguration } from "../config/server-configuration.js";
import { McpInstallError } from "../errors.js";

/** Functions that are called during an installation. */
export interface InstallReports {
  /** Called with each line of the output of install commands. */
  onInstallLog?: ((line: string) => void) | undefined;
  /** Called with the reason when a server is installed anew for each session. */
  onNotice?: ((notice: string) => void) | undefined;
  /** Aborts the installation. */
  signal?: AbortSignal | undefined;
}

/** A template to create the server's sandbox from, and whether the server is installed in it. */
interface InstalledTemplate {
  readonly template: string;
  readonly isInstalled: boolean;
}

/** The templates with installed servers of one client. Each is built once, even if several sessions need it at the same time. */
export class InstallLayers {
  readonly #building = new Map<string, Promise<InstalledTemplate>>();

  constructor(private readonly client: SandboxClient) {}

  /**
   * Creates a sandbox for the server with `create`, from the template in which the server is installed. Builds that template first
   * if there is none.
   */
  async create(
    server: McpServerConfiguration,
    reports: InstallReports,
    create: (template: string) => Promise<Sandbox>,
  ): Promise<{ isInstalled: boolean; sandbox: Sandbox }> {
    const { installCommands = [], template: base } = server;
    if (installCommands.length === 0) return { isInstalled: true, sandbox: await create(base) };
    const name = layerName(base, installCommands);
    if (!this.#building.has(name)) {
      try {
        // Do not ask for the template before: most of the time it exists, and the question takes as long as the create.
        return { isInstalled: true, sandbox: await create(name) };
      } catch (error) {
        if (!mayLackTemplate(error)) throw error;
      }
    }
    const { isInstalled, template } = await this.#find(name, server, reports);
    return { isInstalled, sandbox: await create(template) };
  }

  /** Finds the template in which the server is installed, or builds one. */
  async #find(
    name: string,
    server: McpServerConfiguration,
    reports: InstallReports,
  ): Promise<InstalledTemplate> {
    const ofOthers = this.#building.get(name);
    const building = ofOthers ?? this.#findOrBuild(name, server, reports);
    this.#building.set(name, building);
    try {
      return await building;
    } catch (error) {
      const wasGivenUp = ofOthers !== undefined && error instanceof Error && error.name === "AbortError";
      if (!wasGivenUp || reports.signal?.aborted) throw error;
    } finally {
      // Forget the build: the next call repeats a failed one, and a template may have been deleted until then.
      if (this.#building.get(name) === building) this.#building.delete(name);
    }
    // The session that was building for both was given up: build for this one.
    return this.#find(name, server, reports);
  }

  async #findOrBuild(
    name: string,
    server: McpServerConfiguration,
    reports: InstallReports,
  ): Promise<InstalledTemplate> {
    const { installCommands = [], template } = server;
    const { onInstallLog, onNotice, signal } = reports;
    if ((await this.#statusOf(name, signal)) === "active") return { template: name, isInstalled: true };
    let definition = Template.from(template);
    for (const command of installCommands) definition = definition.run(command);
    let isOurs = false;
    try {
      await this.client.templates.build(definition, {
        name,
        onLog: onInstallLog,
        onProgress: () => {
          isOurs = true;
        },
        signal,
        timeoutSeconds: 1800,
      });
      return { template: name, isInstalled: true };
    } catch (error) {
      // Another program is building this template, or has just built it.
      if (error instanceof ConflictError) return await this.#awaitOther(name, server, reports);
      // The server would go on with the install commands, which nobody waits for: deleting the template ends them.
      if (signal?.aborted && isOurs) await this.client.templates.delete(name).catch(() => undefined);
      if (error instanceof TemplateBuildError) throw installFailed(server, error.log, error);
      if (!isRefusal(error)) throw error;
      onNotice?.(
        `Server "${server.name}" is installed anew for each session, because this backend builds no templates: ${error.summary}`,
      );
      return { template, isInstalled: false };
    }
  }

  /** The state of a layer; undefined if there is none. */
  async #statusOf(name: string, signal: AbortSignal | undefined): Promise<string | undefined> {
    try {
      return (await this.client.templates.get(name, { signal })).status;
    } catch (error) {
      if (error instanceof NotFoundError) return undefined;
      throw error;
    }
  }

  /** Waits for the build of another program. Builds the layer if the other one failed or was given up. */
  async #awaitOther(
    name: string,
    server: McpServerConfiguration,
    reports: InstallReports,
  ): Promise<InstalledTemplate> {
    const { signal } = reports;
    for (;;) {
      signal?.throwIfAborted();
      const status = await this.#statusOf(name, signal);
      if (status === "active") return { template: name, isInstalled: true };
      if (status === undefined || status === "failed") return await this.#findOrBuild(name, server, reports);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

/** Runs the install commands in a sandbox. */
export async function installIn(
  sandbox: Sandbox,
  server: McpServerConfiguration,
  { onInstallLog, signal }: InstallReports,
): Promise<void> {
  for (const command of server.installCommands ?? []) {
    let output = "";
    const add = (text: string): void => {
      output = (output + text).slice(-longestOutput);
    };
    // 30 minutes: as long as the build of a template.
    const stream = sandbox.commands.stream(command, { timeoutSeconds: 1800, signal });
    for await (const event of stream) {
      if (event.type === "stdout" || event.type === "stderr") {
        add(event.text);
        for (const line of event.text.trimEnd().split("\n")) onInstallLog?.(line);
      } else if (event.type === "result" && !event.result.success) throw installFailed(server, output);
    }
  }
}

const longestOutput = 64 * 1024;

/** The name of the template with the server. It depends only on the base template and the install commands. */
function layerName(template: string, commands: readonly string[]): string {
  const digest = createHash("sha256")
    .update(JSON.stringify([template, commands]))
    .digest("hex");
  return `mcp-${digest.slice(0, 20)}`;
}

/** Whether a sandbox may have been refused because its template does not exist. Servers differ in how they say so. */
function mayLackTemplate(error: unknown): boolean {
  return [NotFoundError, ConflictError, ValidationError, ServerError].some((kind) => error instanceof kind);
}

/** Whether the error says that the backend builds no templates. Other errors are failures of this build. */
function isRefusal(error: unknown): error is ApiError {
  if (!isSandboxError(error) || !(error instanceof ApiError) || error instanceof AuthenticationError)
    return false;
  const { status = 0 } = error;
  return (status >= 400 && status < 500 && status !== 429) || status === 501;
}

function installFailed({ name }: McpServerConfiguration, output: string, cause?: unknown): McpInstallError {
  const end = output.trim().split("\n").slice(-6).join(" | ");
  const shown = end.length > 800 ? `…${end.slice(-800)}` : end;
  const isOffline = offline.test(output);
  return new McpInstallError({
    summary: `Server "${name}" could not be installed: ${shown || "no output"}`,
    hint: isOffline
      ? 'The network failed. Give the machine that runs sandboxes internet access; "cloud-sandbox serve" goes through a proxy with --egress-upstream-proxy, and to a private address with --egress-allow-private.'
      : "Correct the server's install commands. `error.output` has all that they wrote.",
    code: "INSTALL_FAILED",
    output,
    isOffline,
    cause,
  });
}

/** Matches what pip, npm, curl, git and the proxy of sandboxes write when a server cannot be reached. */
const offline =
  /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENETUNREACH|Could not resolve|Could(n't| not) connect to server|Name or service not known|Temporary failure in name|Network is unreachable|No route to host|DESTINATION_NOT_ALLOWED|Tunnel (connection )?failed|no internet access|not on the public internet|403 Forbidden/i;
