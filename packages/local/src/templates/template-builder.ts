import { type BuildRecord, describeStep } from "@cloud-sandbox/server-kit/handlers";
import type { AgentCalls } from "../agents/agent-calls.js";
import type { LocalTemplate } from "../catalogue/template-catalogue.js";
import type { EgressGateway } from "../egress/egress-gateway.js";
import { type HostLanguage, languagesIn } from "../runtime/language-tools.js";
import type { Machine, MachineSpec, SandboxRuntime } from "../runtime/sandbox-runtime.js";
import type { MemoryBudget } from "../sandboxes/memory-budget.js";
import { startTemplate } from "../sandboxes/template-start.js";
import type { LayerStore } from "../store/layer-store.js";
import type { TokenIssuer } from "../tokens/token-issuer.js";
import type { BuildLog } from "./build-log.js";
import { archivePath, type BuildContext, BuildMachine, contextAfter, needsMachine } from "./build-machine.js";
import type { BuildPlan } from "./build-plan.js";

export interface TemplateBuilderOptions {
  readonly runtime: SandboxRuntime;
  readonly tokens: TokenIssuer;
  readonly agents: AgentCalls;
  readonly layers: LayerStore;
  readonly egress: EgressGateway;
  readonly budget: MemoryBudget;
  /** Seconds that a whole build may take. */
  readonly timeoutSeconds: number;
}

export interface BuildProgress {
  readonly id: string;
  readonly log: BuildLog;
  readonly stop: AbortSignal;
  /**
   * Returns the result of an earlier build whose steps were the first `count` steps of this one. Undefined if there is
   * none.
   */
  readonly cached: (count: number) => BuildResult | undefined;
  readonly report: (change: Pick<Partial<BuildRecord>, "status" | "progress" | "currentStep">) => void;
  /** Makes the finished template from the build's result. */
  readonly template: (result: BuildResult) => LocalTemplate;
}

export type BuildResult = BuildContext & { readonly layers: readonly string[] };

/** Carries out one build: runs the steps in a machine, saves its changed files as a layer, and tries to start the result. */
export class TemplateBuilder {
  constructor(private readonly options: TemplateBuilderOptions) {}

  /** Rejects with a message for people when the build fails. */
  async build(plan: BuildPlan, progress: BuildProgress): Promise<LocalTemplate> {
    const { timeoutSeconds, layers } = this.options;
    const limit = AbortSignal.timeout(timeoutSeconds * 1000);
    const signal = AbortSignal.any([progress.stop, limit]);
    const layer = await layers.path(progress.id);
    const cached = longestCachedPart(plan, progress);
    const release = layers.hold(cached.layers);
    try {
      const result = await this.#runSteps(plan, cached, layer, progress, signal);
      const template = progress.template(result);
      progress.report({ status: "publishing", progress: 95, currentStep: "trial start" });
      await this.#tryOut(template, progress.id, signal);
      return template;
    } catch (error) {
      if (limit.aborted)
        throw new Error(`The build took longer than its limit of ${timeoutSeconds} s and was ended.`);
      throw error;
    } finally {
      release();
    }
  }

  /** Starts a machine of an imported image, and finds out which languages it has. Rejects if none can be started. */
  async findLanguages(
    template: LocalTemplate,
    id: string,
    signal: AbortSignal,
  ): Promise<readonly HostLanguage[]> {
    const { limits, name, built } = template;
    const machine = await this.#boot(
      { id: `trial-${id}`, template: name, limits, languages: [], layers: built?.layers ?? [] },
      template,
    );
    const destroy = (): void => void machine.destroy();
    signal.addEventListener("abort", destroy);
    try {
      return await languagesIn((program, args) =>
        this.options.agents
          .ask(machine, {
            method: "POST",
            path: "/commands/run",
            body: { command: program, args, timeout: programSeconds },
            signal,
          })
          .then(({ stdout }) => String(stdout)),
      );
    } finally {
      signal.removeEventListener("abort", destroy);
      await machine.destroy();
    }
  }

  async #runSteps(
    plan: BuildPlan,
    cached: Cached,
    layer: string,
    progress: BuildProgress,
    signal: AbortSignal,
  ): Promise<BuildResult> {
    const { base, steps, archives } = plan;
    const { log, report } = progress;
    let context: BuildContext = {
      environment: cached.environment,
      workdir: cached.workdir,
      user: cached.user,
    };
    for (const step of steps.slice(0, cached.steps)) log.line(`CACHED ${describeStep(step)}`);
    const rest = steps.slice(cached.steps);
    if (!rest.some(needsMachine)) {
      for (const step of rest) context = contextAfter(step, context);
      return { ...context, layers: cached.layers };
    }
    const files = [...archives].map(([index, { path }]) => ({ source: path, target: archivePath(index) }));
    const machine = await this.#boot(
      {
        id: `build-${progress.id}`,
        template: plan.name,
        limits: plan.limits,
        languages: base.languages.map(({ language }) => language),
        layers: cached.layers,
        files,
        keepIn: layer,
      },
      base,
    );
    // Builds install packages, so they get internet access. The operator's own rules still apply.
    this.options.egress.setRules(machine.id, { internetAccess: true });
    const destroy = (): void => void machine.destroy();
    signal.addEventListener("abort", destroy);
    try {
      const inside = new BuildMachine(this.options.agents, machine, (text) => log.append(text), signal);
      for (const [offset, step] of rest.entries()) {
        const index = cached.steps + offset;
        const name = `Step ${index + 1}/${steps.length}: ${describeStep(step)}`;
        log.line(name);
        report({ progress: Math.floor((90 * index) / steps.length), currentStep: name });
        context = await inside.perform(step, index, context).catch((error: unknown) => {
          const reason = error instanceof Error ? error.message : String(error);
          throw new Error(`${name} failed: ${reason.replace(/\.?$/, ".")}`, { cause: error });
        });
      }
      report({ status: "publishing", progress: 90, currentStep: "keeping the files" });
      signal.throwIfAborted();
      await machine.keep();
      return { ...context, layers: [...cached.layers, layer] };
    } finally {
      signal.removeEventListener("abort", destroy);
      await machine.destroy();
    }
  }

  /** Starts the template once, so that the build of a template that cannot start fails. The trial has no internet access, as sandboxes may have none. */
  async #tryOut(template: LocalTemplate, id: string, signal: AbortSignal): Promise<void> {
    const { built } = template;
    if (built?.startCommand === undefined && built?.readyCheck === undefined) return;
    const { limits, name } = template;
    const machine = await this.#boot(
      {
        id: `trial-${id}`,
        template: name,
        limits,
        languages: template.languages.map(({ language }) => language),
        layers: built.layers,
        user: built.user,
      },
      template,
    );
    const destroy = (): void => void machine.destroy();
    signal.addEventListener("abort", destroy);
    try {
      await startTemplate(this.options.agents, machine, template);
    } finally {
      signal.removeEventListener("abort", destroy);
      await machine.destroy();
    }
  }

  async #boot(
    spec: Omit<MachineSpec, "publicKey" | "environment">,
    { built }: LocalTemplate,
  ): Promise<Machine> {
    const { runtime, tokens, egress, budget } = this.options;
    const { id } = spec;
    const release = await budget.reserve(spec.limits);
    const machineEgress = egress.open(id);
    const start = async (): Promise<Machine> =>
      runtime.start({
        ...spec,
        publicKey: await tokens.publicKey(),
        egress: (connection) => machineEgress.accept(connection),
        ...(built && { isImage: built.isImage, environment: built.environment }),
      });
    const machine = await start().catch((error: unknown) => {
      egress.close(machineEgress);
      release();
      throw error;
    });
    void machine.exited.then(() => {
      egress.close(machineEgress);
      release();
    });
    return machine;
  }
}

/** Seconds in which a program of an image must tell its version. */
const programSeconds = 20;

/** The result of the first steps of a build, if an earlier build has done them. */
interface Cached extends BuildResult {
  readonly steps: number;
}

/** The longest sequence of first steps that an earlier build has run already, up to the first step with `skipCache`. */
function longestCachedPart({ steps, skipCache, base }: BuildPlan, { cached }: BuildProgress): Cached {
  const fresh = skipCache ? 0 : steps.findIndex((step) => step.skipCache);
  for (let count = fresh === -1 ? steps.length : fresh; count > 0; count -= 1) {
    const made = cached(count);
    if (made) return { ...made, steps: count };
  }
  const { layers = [], environment = {}, workdir = "/workspace", user } = base.built ?? {};
  return { steps: 0, layers, environment, workdir, user };
}
