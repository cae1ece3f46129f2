import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import { nodeModules } from "../config/node-modules.js";
import {
  callInit,
  checkBoolean,
  checkFunction,
  checkKnown,
  checkSeconds,
  checkText,
  checkTexts,
  type OptionNames,
  omitUndefined,
  requireText,
  requireWhole,
} from "../config/options.js";
import { checkSecrets, type NamedSecret, secretsOnWire } from "../config/secrets.js";
import { ApiError, NotFoundError, TemplateBuildError } from "../errors/errors.js";
import { asText } from "../transport/answer-fields.js";
import { CallScope } from "../transport/calls/calls.js";
import { bodyOf, type ControlPlaneClient, readBody } from "../transport/contract-clients.js";
import type { Template } from "./template.js";
import { templateDefinition } from "./template-definition.js";
import { type TemplateRecord, templateRecord } from "./template-record.js";
import { type UploadParts, uploadCopied } from "./template-upload.js";

/** Options of `templates.build`. */
export interface TemplateBuildOptions {
  /** Name of the template. */
  name: string;
  /** Whether to replace a template of the same name, if there is one. Default false: such a template is a `ConflictError`. */
  update?: boolean | undefined;
  /** Local directory that the paths of `copy` are relative to. Default: the current directory. */
  context?: string | undefined;
  /** Processors of sandboxes made from the template, a whole number from 1 to 64. Default 2. */
  cpu?: number | undefined;
  /** Memory of sandboxes made from the template, in MiB, 512 to 64,000. Default 2048. */
  memoryMb?: number | undefined;
  /** Disk of sandboxes made from the template, in GiB, 1 to 250. Default 10. */
  diskGb?: number | undefined;
  /**
   * Stored secrets that its sandboxes have, by variable: `{ GITHUB_TOKEN: { from: "github" } }`. Each is that of the API key which
   * creates the sandbox. Fails, and the template stays, if the server does not confirm them.
   */
  secrets?: Readonly<Record<string, Omit<NamedSecret, "env">>> | undefined;
  /** Whether to run every step again instead of using cached results. Default false. */
  skipCache?: boolean | undefined;
  /** Credentials for the registry that has the image. */
  registry?: ControlPlaneSchemas["RegistryCredentials"] | undefined;
  /** Called with each line of the build log. */
  onLog?: ((line: string) => void) | undefined;
  /** Called when the build has started, when a step begins, and when the server reports progress. */
  onProgress?: ((progress: TemplateBuildProgress) => void) | undefined;
  /** Seconds until the template must be active, uploads included. Default 3600. */
  timeoutSeconds?: number | undefined;
  /** Ends the wait. A build that has started continues on the server, which offers no way to stop it. */
  signal?: AbortSignal | undefined;
}

const buildOptionNames: OptionNames<TemplateBuildOptions> = {
  name: true,
  update: true,
  context: true,
  cpu: true,
  memoryMb: true,
  diskGb: true,
  secrets: true,
  skipCache: true,
  registry: true,
  onLog: true,
  onProgress: true,
  timeoutSeconds: true,
  signal: true,
};
const registryNames: OptionNames<NonNullable<TemplateBuildOptions["registry"]>> = {
  type: true,
  username: true,
  password: true,
  token: true,
};

/** Progress of a build. */
export interface TemplateBuildProgress {
  status: ControlPlaneSchemas["BuildState"];
  /** Percent; undefined if the server does not say. */
  percent: number | undefined;
  step: string | undefined;
}

/** Uploads the files, starts the build, and waits until sandboxes can be created from the template. */
export async function buildTemplate(
  parts: UploadParts,
  template: Template,
  options: TemplateBuildOptions,
): Promise<TemplateRecord> {
  const { from, start, steps } = templateDefinition(template);
  const request = buildRequest(options);
  const seconds = options.timeoutSeconds ?? 3600;
  checkSeconds("timeoutSeconds", seconds);
  const scope = new CallScope(options.signal);
  try {
    const hint = "Allow more with timeoutSeconds; the build may continue on the server.";
    scope.limit({ seconds, kind: "request", passed: `Template "${options.name}" was not active`, hint });
    scope.throwIfAborted();
    const wireSteps: ControlPlaneSchemas["TemplateStep"][] = [];
    for (const step of steps) {
      if (step.kind === "ready") {
        wireSteps.push(step.step);
        continue;
      }
      const context = nodeModules().path.resolve(options.context ?? ".");
      const { destination, sources } = step;
      const filesHash = await uploadCopied(parts, context, sources, step.options, scope);
      const { owner, permissions } = step.options;
      const args = [sources.join(","), destination];
      wireSteps.push({ type: "COPY", args, filesHash, ...omitUndefined({ owner, permissions }) });
    }
    const body = {
      ...request,
      from_image: from,
      steps: wireSteps,
      ...omitUndefined({ startCmd: start?.command, readyCmd: start?.ready }),
    };
    const ids = await started(parts.controlPlane, body, scope).catch((error: unknown) => {
      if (body.update !== true || !(error instanceof NotFoundError)) throw error;
      // Servers refuse to update a template that does not exist.
      return started(parts.controlPlane, { ...body, update: false }, scope);
    });
    options.onProgress?.({ status: "building", percent: undefined, step: undefined });
    scope.throwIfAborted();
    await new BuildFollower(parts.controlPlane, ...ids, options, scope).untilBuilt();
    const built = await untilActive(parts.controlPlane, ...ids, scope);
    checkSecrets(options.secrets, built.secrets);
    return built;
  } catch (error) {
    throw scope.failure ?? error;
  } finally {
    scope.end();
  }
}

/**
 * Starts the build. If `scope` is stopped meanwhile, still waits some seconds for the answer: only a caller who knows that the
 * build has started can delete the template.
 */
async function started(
  controlPlane: ControlPlaneClient,
  body: ControlPlaneSchemas["TemplateBuildRequest"],
  scope: CallScope,
): Promise<readonly [string, string]> {
  scope.throwIfAborted();
  const late = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = (): void => {
    timer = setTimeout(() => late.abort(scope.reason), longestStart * 1000);
  };
  scope.addEventListener("abort", stop);
  try {
    const pending = controlPlane.POST("/v1/templates/build", { body, ...callInit({ signal: late.signal }) });
    return await readBody(pending, idsOf, "build_id", "template_id");
  } finally {
    scope.removeEventListener("abort", stop);
    clearTimeout(timer);
  }
}

/** Seconds to wait for the answer to a start that is no longer wanted. */
const longestStart = 5;

function idsOf(wire: { build_id: string; template_id: string }): readonly [string, string] {
  return [asText(wire.build_id), asText(wire.template_id)];
}

function buildRequest(options: TemplateBuildOptions) {
  const { cpu = 2, diskGb = 10, memoryMb = 2048, name, registry, secrets, skipCache, update } = options;
  checkKnown("templates.build", options, buildOptionNames);
  checkKnown("registry", registry, registryNames);
  requireText("name", name);
  checkText("context", options.context);
  checkBoolean("update", update);
  checkBoolean("skipCache", skipCache);
  checkFunction("onLog", options.onLog);
  checkFunction("onProgress", options.onProgress);
  checkTexts("registry", registry);
  requireWhole("cpu", cpu, 1, 64);
  requireWhole("memoryMb", memoryMb, 512, 64_000);
  requireWhole("diskGb", diskGb, 1, 250);
  const named =
    secrets &&
    Object.entries(secretsOnWire(secrets)).map(([variable, { from = "", hosts }]) => [
      variable,
      { from, ...omitUndefined({ hosts }) },
    ]);
  const credentials = registry && { type: "basic" as const, ...registry };
  return {
    name,
    cpu,
    memory: memoryMb,
    diskGB: diskGb,
    ...omitUndefined({
      skipCache,
      update,
      registry_credentials: credentials,
      secrets: named && Object.fromEntries(named),
    }),
  };
}

/** Polls status and log of a build. Not a stream, because polling continues where it was after a broken connection. */
class BuildFollower {
  #offset = 0;
  #hasLog = true;
  /** The end of the log, for the error of a failed build. */
  #log = "";
  /** The start of a log line whose end has not arrived yet. */
  #line = "";
  #shown = "";

  constructor(
    private readonly controlPlane: ControlPlaneClient,
    private readonly buildId: string,
    private readonly templateId: string,
    private readonly options: Pick<TemplateBuildOptions, "onLog" | "onProgress">,
    private readonly scope: CallScope,
  ) {}

  async untilBuilt(): Promise<void> {
    for (let delay = 0.1; ; delay = Math.min(delay * 1.3, 1)) {
      const params = { path: { buildID: this.buildId } };
      const init = { params, ...callInit({ signal: this.scope.abortSignal }) };
      const pending = this.controlPlane.GET("/v1/templates/build/{buildID}/status", init);
      const build = await bodyOf(pending, "status");
      this.#showProgress(build);
      await this.#readLog();
      if (build.status === "success" || build.status === "active") return;
      if (build.status === "failed") throw this.#failure(build);
      await this.scope.sleep(delay);
    }
  }

  #showProgress({
    current_step: step,
    progress: percent,
    status,
  }: ControlPlaneSchemas["TemplateBuildStatus"]): void {
    const shown = JSON.stringify([status, percent, step]);
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.options.onProgress?.({ status, percent, step });
  }

  async #readLog(): Promise<void> {
    if (!this.#hasLog) return;
    const params = { path: { buildID: this.templateId }, query: { offset: this.#offset } };
    const init = { params, ...callInit({ signal: this.scope.abortSignal }) };
    try {
      const pending = this.controlPlane.GET("/v1/templates/build/{buildID}/logs", init);
      const page = await bodyOf(pending);
      if (typeof page !== "object") return;
      this.#offset = page.offset;
      this.#log = (this.#log + page.logs).slice(-longestLog);
      this.#tell(page.logs, page.complete === true);
    } catch (error) {
      if (this.scope.failure !== undefined || !(error instanceof ApiError)) throw error;
      // Continue without the log: it is only for people, and the status says how the build ends.
      this.#hasLog = false;
    }
  }

  #tell(text: string, isComplete: boolean): void {
    const lines = (this.#line + text).split("\n");
    this.#line = lines.pop() ?? "";
    if (isComplete && this.#line !== "") lines.push(this.#line);
    for (const line of lines) this.options.onLog?.(line);
  }

  #failure(build: ControlPlaneSchemas["TemplateBuildStatus"]): TemplateBuildError {
    const steps = [...this.#log.matchAll(/^\W{0,4}step \d+\/\d+.*$/gim)];
    const log = this.#log.slice(steps.at(-1)?.index ?? 0).trim();
    const { buildId, templateId } = this;
    const step = build.current_step ?? steps.at(-1)?.[0];
    const reason = build.error_message ?? "The build of the template failed.";
    return new TemplateBuildError({ reason, buildId, templateId, step, log });
  }
}

/** Characters of the log to keep. */
const longestLog = 64 * 1024;

/** Waits until a built template is active. Some servers need minutes for that. */
async function untilActive(
  controlPlane: ControlPlaneClient,
  buildId: string,
  templateId: string,
  scope: CallScope,
): Promise<TemplateRecord> {
  for (let delay = 0.1; ; delay = Math.min(delay * 1.6, 3)) {
    const init = { params: { path: { name: templateId } }, ...callInit({ signal: scope.abortSignal }) };
    const record = await readBody(
      controlPlane.GET("/v1/templates/{name}", init),
      templateRecord,
      "id",
      "name",
    );
    if (record.status === "active" && record.isActive !== false) return record;
    if (record.status === "failed" || record.status === "error") {
      const reason = `Template ${record.name} was built, and is ${record.status}.`;
      throw new TemplateBuildError({ reason, buildId, templateId, step: undefined, log: "" });
    }
    await scope.sleep(delay);
  }
}
