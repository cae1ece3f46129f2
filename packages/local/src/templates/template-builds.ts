import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import { Problem } from "@cloud-sandbox/server-kit";
import {
  type BuildRecord,
  buildBase,
  buildNotFound,
  type EventFacts,
  type EventType,
  hasEnded,
  type NewEvent,
  noRoomForLayers,
  noTemplateToUpdate,
  templateIsBuilt,
  templateIsPublic,
  templateNameTaken,
  tooManyBuilds,
} from "@cloud-sandbox/server-kit/handlers";
import pLimit from "p-limit";
import type {
  BuiltTemplate,
  LocalTemplate,
  TemplateCatalogue,
  TemplateUser,
} from "../catalogue/template-catalogue.js";
import type { EventLog } from "../store/event-log.js";
import type { LayerStore } from "../store/layer-store.js";
import type { PendingWrites } from "../store/pending-writes.js";
import type { TemplateRepository } from "../store/template-repository.js";
import { BuildLog } from "./build-log.js";
import { type BuildPlan, planBuild } from "./build-plan.js";
import type { TemplateBuilder } from "./template-builder.js";
import type { TemplateUploads } from "./template-uploads.js";

const buildsAtATime = 2;
const buildLimit = 20;
const rememberedBuilds = 200;
const firstId = 1000;
/** No build starts with fewer free bytes on the disk, so that templates do not fill it. */
const minFreeBytes = 1024 ** 3;

export interface TemplateBuildsOptions {
  readonly catalogue: TemplateCatalogue;
  readonly builder: TemplateBuilder;
  readonly uploads: TemplateUploads;
  readonly layers: LayerStore;
  /** Stores builds across restarts. Undefined without a data directory. */
  readonly repository: TemplateRepository | undefined;
  readonly writes: PendingWrites;
  readonly events: EventLog;
  /** Why this server makes no templates. Undefined if it does. */
  readonly lack: string | undefined;
}

/** A build's record, and its log while it grows. */
export interface Build {
  record: BuildRecord;
  readonly log: BuildLog;
}

/** All template builds of this machine: starts, tracks, stops and restores them. */
export class TemplateBuilds {
  readonly #builds = new Map<string, Build>();
  readonly #running = new Map<string, { readonly stop: AbortController; readonly ended: Promise<void> }>();
  readonly #limit = pLimit(buildsAtATime);
  #lastId = firstId;

  constructor(private readonly options: TemplateBuildsOptions) {}

  /** Loads the builds of the previous control plane. Builds that were still running are marked as failed. */
  restore(): void {
    const { repository, catalogue } = this.options;
    if (!repository) return;
    const interrupted = "The control plane ended while the template was being built. Build it again.";
    for (const template of repository.templates()) catalogue.put(template);
    for (const record of repository.builds()) {
      const build = { record, log: new BuildLog(record.log) };
      this.#builds.set(record.id, build);
      if (hasEnded(record)) continue;
      // A template is saved before its build's record, so an active template means that the build succeeded.
      const { built } = catalogue.find(record.templateId) ?? {};
      if (built?.status === "active" && built.buildId === record.id) this.#succeed(build);
      else this.#fail(build, interrupted);
    }
    // Also the id of a template that was deleted: it still finds the template's builds.
    const ids = [...this.#builds.values()].flatMap(({ record }) => [record.id, record.templateId]);
    this.#lastId = Math.max(firstId, ...[...ids, ...catalogue.list().map(({ id }) => id)].map(Number));
  }

  /** Starts a build. Resolves when the build has begun, not when it has ended. */
  async start(request: ControlPlaneSchemas["TemplateBuildRequest"]): Promise<BuildRecord> {
    const { catalogue, layers, uploads } = this.options;
    const { name } = request;
    this.requireAvailable();
    const { id = "" } = catalogue.named(name) ?? {};
    const last = this.#running.get(id);
    // If callers already see the template's last build as ended, only the removal of old layers still runs: wait for it.
    if (last && hasEnded(this.find(id).record)) await last.ended;
    const freeBytes = await layers.freeBytes();
    // Do not wait from here on: another build of this name could begin meanwhile.
    const existing = this.requireFree(name, request.update === true);
    if (!existing && request.update === true) throw noTemplateToUpdate(name);
    if (this.#running.size >= buildLimit) throw tooManyBuilds(buildLimit);
    if (freeBytes < minFreeBytes) throw noRoomForLayers();
    const plan = planBuild(request, buildBase(request.from_image ?? "", catalogue.list()), uploads);
    return this.#begin(plan, existing);
  }

  /** @throws a 400 problem if this server makes no templates. */
  requireAvailable(): void {
    const { lack } = this.options;
    if (lack !== undefined)
      throw new Problem(400, "TEMPLATES_UNAVAILABLE", `This server makes no templates: ${lack}.`);
  }

  /** An id that no build and no template has. */
  newId(): string {
    this.#lastId += 1;
    return String(this.#lastId);
  }

  /** The template of this name that a new one replaces. @throws a 409 problem if it may not be replaced. */
  requireFree(name: string, update: boolean): LocalTemplate | undefined {
    const existing = this.options.catalogue.named(name);
    if (existing && (!existing.built || (existing.built.status === "active" && !update)))
      throw templateNameTaken(name);
    if (existing && this.#running.has(existing.id)) throw templateIsBuilt(name);
    return existing;
  }

  /** Adds a template that was made without steps, as if by a build of its `buildId`. */
  adopt(template: LocalTemplate, { buildId, updatedAt }: BuiltTemplate): void {
    const build: Build = {
      log: new BuildLog(),
      record: {
        ...{
          id: buildId,
          templateId: template.id,
          status: "publishing",
          progress: 95,
          currentStep: "import",
        },
        startedAt: updatedAt,
        completedAt: undefined,
        error: undefined,
        log: "",
        stepKeys: [],
      },
    };
    this.#put(template);
    this.#builds.set(buildId, build);
    this.options.events.append(this.#event(build, "build.started"));
    this.#succeed(build);
  }

  /** Finds the newest build of the template with that id, or a build by its own id. */
  find(id: string): Build {
    const ofTemplate = [...this.#builds.values()].filter(({ record }) => record.templateId === id).at(-1);
    // In data of earlier versions, the id of a template is also that of its first build.
    const build = ofTemplate ?? this.#builds.get(id);
    if (!build) throw buildNotFound();
    return build;
  }

  /** Deletes a template. Its sandboxes keep running. Its layers are removed with the last sandbox that uses them. */
  async remove(template: LocalTemplate): Promise<void> {
    if (!template.built) throw templateIsPublic(template.name);
    const running = this.#running.get(template.id);
    running?.stop.abort(new Error("The template was deleted."));
    await running?.ended;
    this.options.catalogue.remove(template.id);
    this.options.writes.ensure(`template ${template.id}`, () =>
      this.options.repository?.removeTemplate(template.id),
    );
    await this.options.layers.collect();
  }

  /** Stops every build and resolves when none is running. */
  async close(): Promise<void> {
    const running = [...this.#running.values()];
    for (const { stop } of running) stop.abort(new Error("The control plane was stopped."));
    await Promise.all(running.map(({ ended }) => ended));
  }

  #begin(plan: BuildPlan, existing: LocalTemplate | undefined): BuildRecord {
    const id = this.newId();
    const build: Build = {
      log: new BuildLog(),
      record: {
        id,
        templateId: existing?.id ?? this.newId(),
        status: "building",
        progress: 0,
        currentStep: "waiting",
        startedAt: new Date().toISOString(),
        completedAt: undefined,
        error: undefined,
        log: "",
        stepKeys: plan.stepKeys,
      },
    };
    // An active template stays in use until the new build succeeds. Without one, show a template in status `building`.
    const placeholder =
      existing?.built?.status === "active"
        ? undefined
        : templateOf(plan, build.record, existing, { status: "building", layers: [] });
    const { writes, repository, catalogue, events } = this.options;
    const key = placeholder ? `template ${placeholder.id}` : `build ${id}`;
    const started = this.#event(build, "build.started", { name: plan.name });
    writes.require(key, () =>
      events.record([started], () => repository?.begin({ ...build.record, log: "" }, placeholder)),
    );
    if (placeholder) catalogue.put(placeholder);
    for (const difference of plan.differences) build.log.line(`Note: ${difference}`);
    this.#builds.set(id, build);
    for (const [oldest, { record }] of this.#builds)
      if (this.#builds.size > rememberedBuilds && hasEnded(record)) this.#builds.delete(oldest);
    const stop = new AbortController();
    const release = this.options.uploads.hold(plan.archives.values());
    // The base may be deleted or replaced while this build waits for its turn.
    const releaseBase = this.options.layers.hold(plan.base.built?.layers ?? []);
    const ended = this.#limit(() => this.#run(build, plan, existing, stop.signal, releaseBase))
      .finally(release)
      .finally(() => this.#running.delete(build.record.templateId));
    this.#running.set(build.record.templateId, { stop, ended });
    return build.record;
  }

  async #run(
    build: Build,
    plan: BuildPlan,
    existing: LocalTemplate | undefined,
    stop: AbortSignal,
    releaseBase: () => void,
  ): Promise<void> {
    const { builder, layers } = this.options;
    const release = layers.hold([await layers.path(build.record.id)]);
    try {
      stop.throwIfAborted();
      const template = (
        built: Pick<
          NonNullable<LocalTemplate["built"]>,
          "status" | "layers" | "environment" | "workdir" | "user"
        >,
      ) => templateOf(plan, build.record, existing, built);
      const finished = await builder.build(plan, {
        id: build.record.id,
        log: build.log,
        stop,
        cached: (count) => this.#cached(plan, count),
        report: (change) => this.#change(build, change),
        template: (made) => template({ status: "active", ...made }),
      });
      // The template may have been deleted during the last await.
      stop.throwIfAborted();
      this.#put(finished);
      this.#succeed(build);
    } catch (error) {
      const reason = stop.aborted ? stop.reason : error;
      this.#fail(build, reason instanceof Error ? reason.message : String(reason));
    }
    release();
    releaseBase();
    await layers.collect();
  }

  /** Finds a template whose build had exactly the first `count` steps of this plan. */
  #cached(plan: BuildPlan, count: number): BuiltTemplate | undefined {
    const key = plan.stepKeys[count - 1];
    const made = this.options.catalogue.list().find(({ built }) => {
      const keys = built && this.#builds.get(built.buildId)?.record.stepKeys;
      return built?.status === "active" && keys?.at(-1) === key;
    });
    return made?.built;
  }

  #succeed(build: Build): void {
    const completedAt = new Date().toISOString();
    this.#change(build, { status: "active", progress: 100, currentStep: "done", completedAt });
  }

  /**
   * Marks a build as failed. Saves the template before the build's record, as after a success: after a restart, only the
   * templates of builds without a recorded end are repaired.
   */
  #fail(build: Build, error: string): void {
    const template = this.options.catalogue.find(build.record.templateId);
    if (template?.built?.status === "building") {
      const failed: LocalTemplate = { ...template, built: { ...template.built, status: "failed" } };
      this.options.catalogue.put(failed);
      this.#ensure(failed);
    }
    this.#change(build, { status: "failed", error, completedAt: new Date().toISOString() });
  }

  #change(build: Build, change: Partial<BuildRecord>): void {
    build.record = { ...build.record, ...change };
    const { status, error: reason } = build.record;
    const outcome = status === "active" ? "completed" : "failed";
    const facts = { outcome, ...(reason !== undefined && { reason }) } as const;
    const events = hasEnded(build.record) ? [this.#event(build, "build.ended", facts)] : [];
    this.options.writes.ensure(`build ${build.record.id}`, () =>
      this.options.events.record(events, () => this.#write(build)),
    );
    build.log.wake();
  }

  #event({ record }: Build, type: EventType, facts: EventFacts = {}): NewEvent {
    const name = this.options.catalogue.find(record.templateId)?.name;
    const of = { build_id: record.id, template_id: record.templateId };
    return { type, at: new Date(), facts: { ...(name !== undefined && { name }), ...of, ...facts } };
  }

  #write({ record, log }: Build): void {
    this.options.repository?.saveBuild({ ...record, log: log.text });
  }

  /** @throws a 507 problem when the template cannot be saved; nothing has changed then. */
  #put(template: LocalTemplate): void {
    const before = this.options.catalogue.find(template.id);
    try {
      this.options.writes.require(`template ${template.id}`, () =>
        this.options.repository?.saveTemplate(template),
      );
    } catch (error) {
      // A failed write may still have reached the file: write the old template again.
      if (before) this.#ensure(before);
      throw error;
    }
    this.options.catalogue.put(template);
  }

  #ensure(template: LocalTemplate): void {
    this.options.writes.ensure(`template ${template.id}`, () =>
      this.options.repository?.saveTemplate(template),
    );
  }
}

function templateOf(
  plan: BuildPlan,
  { id, templateId, startedAt }: BuildRecord,
  existing: LocalTemplate | undefined,
  made: {
    status: "building" | "active" | "failed";
    layers: readonly string[];
    environment?: Readonly<Record<string, string>>;
    workdir?: string;
    user?: TemplateUser | undefined;
  },
): LocalTemplate {
  const { name, base, language, differences, limits, fromImage, startCommand, readyCheck, secrets } = plan;
  return {
    id: templateId,
    name,
    displayName: name,
    description: "Built on this machine.",
    details: [`It is built from ${fromImage}.`, ...differences].join(" "),
    category: "custom",
    limits,
    languages: base.languages,
    system: base.system,
    language,
    built: {
      buildId: id,
      createdAt: existing?.built?.createdAt ?? startedAt,
      updatedAt: new Date().toISOString(),
      fromImage,
      differences,
      environment: {},
      workdir: "/workspace",
      startCommand,
      readyCheck,
      secrets,
      isImage: base.built?.isImage,
      ...made,
    },
  };
}
