import { createHash } from "node:crypto";
import { availableParallelism, totalmem } from "node:os";
import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import { type BuildBase, type BuildStep, buildStep, invalidBuild } from "@cloud-sandbox/server-kit/handlers";
import { type ReadyCheck, readyCheck } from "../catalogue/ready-check.js";
import type { LocalTemplate } from "../catalogue/template-catalogue.js";
import type { MachineLimits } from "../runtime/sandbox-runtime.js";
import type { Archive, TemplateUploads } from "./template-uploads.js";

const stepLimit = 200;

/** A checked build request. */
export interface BuildPlan {
  readonly name: string;
  readonly fromImage: string;
  readonly base: LocalTemplate;
  /** The only language of the image that the build starts from; undefined if it has all languages. */
  readonly language: string | undefined;
  /** Sentences for people: how the template will differ from the image it names. */
  readonly differences: readonly string[];
  readonly steps: readonly BuildStep[];
  /** The archives of COPY steps, by the index of the step. */
  readonly archives: ReadonlyMap<number, Archive>;
  /** One cache key for each step. Equal keys mean that two builds have the same steps up to and including that step. */
  readonly stepKeys: readonly string[];
  readonly skipCache: boolean;
  readonly limits: MachineLimits;
  readonly startCommand: string | undefined;
  readonly readyCheck: ReadyCheck | undefined;
  readonly secrets: ControlPlaneSchemas["NamedSecrets"] | undefined;
}

/** Checks a build request. @throws a 400 problem for errors that show without running a step. */
export function planBuild(
  request: ControlPlaneSchemas["TemplateBuildRequest"],
  { template: base, language, differences }: BuildBase<LocalTemplate>,
  uploads: TemplateUploads,
): BuildPlan {
  const wireSteps = request.steps ?? [];
  if (wireSteps.length > stepLimit) throw invalidBuild(`A build has at most ${stepLimit} steps.`);
  const steps = wireSteps.map(buildStep);
  const archives = new Map<number, Archive>();
  for (const [index, step] of steps.entries()) {
    if (step.kind !== "copy") continue;
    const archive = uploads.find(step.filesHash);
    if (!archive)
      throw invalidBuild(
        `Step ${index + 1} (COPY) names files that were not uploaded.`,
        "Ask for an upload link for its filesHash and PUT the files there.",
      );
    archives.set(index, archive);
  }
  const commands = steps.flatMap((step) => (step.kind === "cmd" ? [step.command] : []));
  return {
    name: request.name,
    fromImage: request.from_image ?? "",
    base,
    language,
    differences,
    steps,
    archives,
    stepKeys: cacheKeys(base, steps, archives),
    skipCache: request.skipCache === true,
    limits: {
      ...base.limits,
      vcpu: Math.min(request.cpu, availableParallelism()),
      memoryMb: Math.min(request.memory, Math.floor(totalmem() / mebibyte)),
      diskMb: Math.min(request.diskGB * 1024, Math.floor(totalmem() / mebibyte / 2)),
    },
    startCommand: request.startCmd ?? commands.at(-1),
    readyCheck: request.readyCmd ? readyCheck(request.readyCmd) : undefined,
    secrets: request.secrets ?? base.built?.secrets,
  };
}

const mebibyte = 1024 * 1024;

function cacheKeys(
  base: LocalTemplate,
  steps: readonly BuildStep[],
  archives: ReadonlyMap<number, Archive>,
): string[] {
  let key = JSON.stringify([
    base.built?.layers ?? [],
    base.built?.environment ?? {},
    base.built?.workdir ?? "",
    base.built?.user?.name ?? "",
  ]);
  return steps.map(({ skipCache: _, ...step }, index) => {
    const content = JSON.stringify([key, step, archives.get(index)?.digest ?? ""]);
    key = createHash("sha256").update(content).digest("hex");
    return key;
  });
}
