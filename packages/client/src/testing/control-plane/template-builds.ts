import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import {
  type BuildBase,
  type BuildFacts,
  type BuildRecord,
  type BuildStep,
  buildBase,
  buildNotFound,
  buildStep,
  describeStep,
  invalidBuild,
  noTemplateToUpdate,
  templateIsPublic,
  templateNameTaken,
} from "@cloud-sandbox/server-kit/handlers";
import { Machine } from "../agent/machine.js";
import { EgressLog } from "../memory/egress-log.js";
import { MemoryFiles, workspace } from "../memory/memory-files.js";
import { resolvePath } from "../memory/posix-path.js";
import type { Programs } from "../memory/programs.js";
import type { TestingClock } from "../memory/testing-clock.js";
import type { MemoryTemplate, TemplateCatalogue } from "./template-catalogue.js";
import { type TemplateUploads, unpackInto } from "./template-uploads.js";

type BuildRequest = ControlPlaneSchemas["TemplateBuildRequest"];

interface MemoryBuild extends BuildFacts {
  record: BuildRecord;
  readonly log: BuildLog;
}

export interface TemplateBuildsOptions {
  readonly clock: TestingClock;
  readonly programs: Programs;
  readonly templates: TemplateCatalogue;
  readonly uploads: TemplateUploads;
}

/** State of a build between two steps. */
interface BuildState {
  readonly environment: Readonly<Record<string, string>>;
  readonly workdir: string;
}

/** The template builds of a service. Commands of a build are programs like all others: the test defines what they do. */
export class TemplateBuilds {
  readonly #builds: MemoryBuild[] = [];
  #lastId = 1000;

  constructor(private readonly options: TemplateBuildsOptions) {}

  async start(request: BuildRequest): Promise<BuildRecord> {
    const { clock, templates, uploads } = this.options;
    const existing = templates.named(request.name);
    if (existing && (!existing.built || (existing.built.status === "active" && request.update !== true)))
      throw templateNameTaken(request.name);
    if (!existing && request.update === true) throw noTemplateToUpdate(request.name);
    const base = buildBase(request.from_image ?? "", templates.list());
    const steps = (request.steps ?? []).map(buildStep);
    for (const [index, step] of steps.entries())
      if (step.kind === "copy" && !uploads.find(step.filesHash))
        throw invalidBuild(`Step ${index + 1} (COPY) names files that were not uploaded.`);

    this.#lastId += 1;
    const record: BuildRecord = {
      id: `build_${this.#lastId}`,
      templateId: existing?.id ?? String(this.#lastId),
      status: "building",
      progress: 0,
      currentStep: "",
      startedAt: clock.now().toISOString(),
      completedAt: undefined,
      error: undefined,
      log: "",
      stepKeys: [],
    };
    const build = { record, log: new BuildLog() };
    this.#builds.push(build);
    for (const difference of base.differences) build.log.line(`Note: ${difference}`);
    templates.put(this.#template(request, base, record, "building"));
    void this.#run(build, request, base, steps);
    return record;
  }

  find(id: string): BuildFacts {
    const build = this.#builds.findLast(({ record }) => record.id === id || record.templateId === id);
    if (!build) throw buildNotFound();
    return build;
  }

  async remove({ id, name, built }: MemoryTemplate): Promise<void> {
    if (!built) throw templateIsPublic(name);
    this.options.templates.remove(id);
  }

  async #run(
    build: MemoryBuild,
    request: BuildRequest,
    base: BuildBase<MemoryTemplate>,
    steps: readonly BuildStep[],
  ): Promise<void> {
    const { clock, templates } = this.options;
    const { content } = base.template;
    const files = new MemoryFiles(clock, content?.files);
    let state: BuildState = {
      environment: content?.environment ?? {},
      workdir: content?.workdir ?? workspace,
    };
    let error: string | undefined;
    try {
      for (const [index, step] of steps.entries()) {
        const currentStep = `Step ${index + 1}/${steps.length}: ${describeStep(step)}`;
        build.log.line(currentStep);
        build.record = { ...build.record, currentStep, progress: Math.floor((90 * index) / steps.length) };
        state = await this.#perform(step, state, files, build);
      }
    } catch (cause) {
      error = cause instanceof Error ? cause.message : String(cause);
      build.log.line(error);
    }
    const status = error === undefined ? "active" : "failed";
    build.record = { ...build.record, status, error, progress: 100, completedAt: clock.now().toISOString() };
    if (templates.find(build.record.templateId)) {
      const content = { files, ...state };
      templates.put({ ...this.#template(request, base, build.record, status), content });
    }
    build.log.wake();
  }

  async #perform(
    step: BuildStep,
    state: BuildState,
    files: MemoryFiles,
    build: MemoryBuild,
  ): Promise<BuildState> {
    const { clock, programs, uploads } = this.options;
    switch (step.kind) {
      case "env":
        return { ...state, environment: { ...state.environment, [step.name]: step.value } };
      case "workdir": {
        const workdir = resolvePath(state.workdir, step.path);
        files.makeDirectory(workdir);
        return { ...state, workdir };
      }
      case "copy":
        await unpackInto(files, resolvePath(state.workdir, step.destination), uploads.find(step.filesHash));
        return state;
      case "run": {
        const egress = new EgressLog({ internetAccess: true }, clock);
        const sandboxId = build.record.id;
        const machine = new Machine({ sandboxId, template: "", clock, files, egress, programs, ...state });
        const { workdir } = state;
        const request = { text: step.command, language: undefined, args: undefined, workdir, env: {} };
        const program = machine.start({ ...request, timeout: undefined });
        const { exitCode, stdout, stderr } = await program.outcome;
        for (const { text } of [stdout, stderr]) build.log.append(text);
        if (exitCode !== 0) throw new Error(`${describeStep(step)} failed with exit code ${exitCode}.`);
        return state;
      }
      default:
        return state;
    }
  }

  #template(
    request: BuildRequest,
    { template, language, differences }: BuildBase<MemoryTemplate>,
    { id: buildId, templateId, startedAt }: BuildRecord,
    status: "building" | "active" | "failed",
  ): MemoryTemplate {
    const { content: _, ...like } = template;
    return {
      ...like,
      id: templateId,
      name: request.name,
      displayName: request.name,
      description: "Built by the test.",
      details: differences.join(" "),
      language,
      category: "custom",
      built: {
        status,
        buildId,
        createdAt: startedAt,
        updatedAt: this.options.clock.now().toISOString(),
        fromImage: request.from_image ?? "",
        differences,
        startCommand: request.startCmd ?? undefined,
        secrets: request.secrets ?? template.built?.secrets,
      },
    };
  }
}

/** The log of a template build. */
export class BuildLog {
  readonly #waiting = new Set<() => void>();
  text = "";

  append(text: string): void {
    this.text += text;
    this.wake();
  }

  line(text: string): void {
    this.append(this.text === "" || this.text.endsWith("\n") ? `${text}\n` : `\n${text}\n`);
  }

  /** Wakes the readers that wait for new output or for the end. */
  wake(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }

  changed(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.add(resolve);
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }
}
