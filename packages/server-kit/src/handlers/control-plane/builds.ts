import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import { type ImageOffer, imageAnswer, imagesOf } from "@cloud-sandbox/protocol/image-answer";
import { Problem } from "../../http/problem.js";
import type { TemplateFacts } from "./template-facts.js";

type WireStep = ControlPlaneSchemas["TemplateStep"];

/** One step of a build, normalized for the builder. */
export type BuildStep = { readonly skipCache: boolean } & (
  | {
      readonly kind: "copy";
      readonly sources: readonly string[];
      readonly destination: string;
      readonly filesHash: string;
      readonly permissions: string | undefined;
    }
  | { readonly kind: "run"; readonly command: string }
  | { readonly kind: "env"; readonly name: string; readonly value: string }
  | { readonly kind: "workdir"; readonly path: string }
  | { readonly kind: "user"; readonly name: string }
  | { readonly kind: "cmd"; readonly command: string }
);

/**
 * Parses a step in any of the forms that clients send. Throws a 400 problem with the step's number if the step has
 * another form.
 */
export function buildStep(step: WireStep, index: number): BuildStep {
  const type = step.type.toLowerCase();
  const args = step.args ?? [];
  const refuse = (needs: string) => invalidBuild(`Step ${index + 1} (${type.toUpperCase()}) ${needs}.`);
  const only = (field: string | null | undefined, what: string): string => {
    const value = field ?? args[0];
    if (value === undefined || value === "" || args.length > 1) throw refuse(`needs exactly one ${what}`);
    return value;
  };
  const skipCache = step.skipCache === true;
  switch (type) {
    case "copy":
      return { kind: "copy", skipCache, ...copyFields(step, args, refuse) };
    case "env":
      return { kind: "env", skipCache, ...variable(step, args, refuse) };
    case "workdir":
      return { kind: "workdir", skipCache, path: only(step.path, "path") };
    case "user": {
      const [name = ""] = only(undefined, "name").split(":");
      if (!/^(?:[A-Za-z_][\w.-]{0,31}\$?|\d{1,5})$/.test(name)) throw refuse("names no valid user");
      return { kind: "user", skipCache, name };
    }
    case "cmd":
      return { kind: "cmd", skipCache, command: only(undefined, "command") };
    default:
      return { kind: "run", skipCache, command: only(undefined, "command") };
  }
}

type Refusal = (needs: string) => Error;

function copyFields(step: WireStep, args: readonly string[], refuse: Refusal) {
  const [sources = "", destination] = args;
  if (args.length !== 2 || sources === "" || !destination)
    throw refuse('needs args: ["source,source", "destination"]');
  if (!step.filesHash) throw refuse("needs filesHash, under which its files were uploaded");
  const permissions = step.permissions ?? undefined;
  if (permissions !== undefined && !/^0?[0-7]{3,4}$/.test(permissions))
    throw refuse('needs permissions as an octal mode, such as "0755"');
  return { sources: sources.split(","), destination, filesHash: step.filesHash, permissions };
}

function variable({ key, value }: WireStep, args: readonly string[], refuse: Refusal) {
  const [first = "", second] = args;
  const end = first.indexOf("=");
  const variable =
    key !== undefined && key !== null
      ? { name: key, value: value ?? "" }
      : second !== undefined
        ? { name: first, value: second }
        : { name: first.slice(0, Math.max(end, 0)), value: first.slice(end + 1) };
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(variable.name) || variable.value.includes("\0"))
    throw refuse('needs a name of letters, digits and "_", and a value');
  return variable;
}

/** Describes a step for people. Values of variables are left out, because they may be secrets. */
export function describeStep(step: BuildStep): string {
  switch (step.kind) {
    case "copy":
      return `COPY ${step.sources.join(" ")} ${step.destination}`;
    case "env":
      return `ENV ${step.name}`;
    case "workdir":
      return `WORKDIR ${step.path}`;
    case "user":
      return `USER ${step.name}`;
    case "cmd":
      return `CMD ${step.command}`;
    case "run":
      return `RUN ${step.command}`;
  }
}

export type BuildStatus = "building" | "publishing" | "active" | "failed";

/** The stored facts about a template build, which survive a restart. */
export interface BuildRecord {
  readonly id: string;
  readonly templateId: string;
  readonly status: BuildStatus;
  /** Progress in per cent. */
  readonly progress: number;
  readonly currentStep: string;
  readonly startedAt: string;
  readonly completedAt: string | undefined;
  readonly error: string | undefined;
  readonly log: string;
  /**
   * A key for each step that the build's layer contains. A later build whose first steps are the same starts from
   * this layer.
   */
  readonly stepKeys: readonly string[];
}

export const hasEnded = ({ status }: Pick<BuildRecord, "status">): boolean =>
  status === "active" || status === "failed";

/** The template that a build starts from. */
export interface BuildBase<Template extends TemplateFacts> {
  readonly template: Template;
  /** The language that `from_image` is for. Undefined if it is for all languages. */
  readonly language: string | undefined;
  /** Sentences for people about what differs from what `from_image` says. */
  readonly differences: readonly string[];
}

/**
 * Returns the template that `from_image` names. If `from_image` names an image, returns that image if it was imported,
 * otherwise the first of `templates`, provided that it can stand in for the image. Nothing is downloaded.
 *
 * @throws a 400 problem that lists what can be built from.
 */
export function buildBase<Template extends TemplateFacts>(
  fromImage: string,
  templates: readonly Template[],
): BuildBase<Template> {
  const named =
    templates.find(({ id, name }) => id === fromImage || name === fromImage) ??
    templates.find(
      ({ built }) => built?.isImage && built.fromImage === fromImage && built.status === "active",
    );
  if (named?.built && named.built.status !== "active")
    throw invalidBuild(
      `from_image names template ${named.name}, which is ${named.built.status}.`,
      "Build from a template that is active.",
    );
  if (named)
    return { template: named, language: named.language, differences: named.built?.differences ?? [] };
  const [template] = templates;
  if (!template) throw new Error("There is no template to build from.");
  const offer: ImageOffer = { languages: template.languages, system: template.system };
  const answer = imageAnswer(fromImage, offer);
  if (answer && !("refusal" in answer)) return { template, ...answer };
  const shown = fromImage.length > 80 ? `${fromImage.slice(0, 80)}…` : fromImage;
  const active = templates.filter(({ built }) => !built || built.status === "active");
  const offers = [...active.map(({ name }) => name), ...imagesOf(offer)].join(", ");
  const why = answer ? ` ${answer.refusal}` : "";
  throw invalidBuild(
    `from_image ${JSON.stringify(shown.replace(/[^\x20-\x7e…]/g, "?"))} is not available on this machine, and no other image is used in its place.${why}`,
    `Build from one of ${offers}.`,
  );
}

export const invalidBuild = (summary: string, hint?: string): Problem =>
  new Problem(400, "INVALID_REQUEST", summary, { hint });

export const buildNotFound = (): Problem =>
  new Problem(
    404,
    "BUILD_NOT_FOUND",
    "There is no build with that id. Use the build's id or its template's id.",
  );

export const templateNameTaken = (name: string): Problem =>
  new Problem(409, "CONFLICT", `A template named ${JSON.stringify(name)} exists already.`, {
    hint: 'Choose another name for the template, or replace the existing template with "update": true.',
  });

export const noTemplateToUpdate = (name: string): Problem =>
  new Problem(404, "TEMPLATE_NOT_FOUND", `There is no template named ${JSON.stringify(name)} to update.`, {
    hint: 'Leave "update" out to build a new template.',
  });

export const templateNameIsNumber = (name: string): Problem =>
  invalidBuild(
    `A template cannot be named ${name}, because numbers are ids of templates.`,
    "Put a letter into the template's name.",
  );

export const templateIsPublic = (name: string): Problem =>
  new Problem(403, "FORBIDDEN", `Template ${name} comes with this server and cannot be changed or deleted.`, {
    hint: "Build a template with another name.",
  });

export const templateIsBuilt = (name: string): Problem =>
  new Problem(409, "CONFLICT", `Template ${name} is being built.`, {
    hint: "Wait until the template's build has ended.",
  });

export const templateNotReady = (name: string, status: string): Problem =>
  new Problem(409, "CONFLICT", `Template ${name} cannot be used: it is ${status}.`, {
    hint:
      status === "building"
        ? "Wait until the template's build has ended."
        : 'Build the template again, with "update": true.',
  });

export const templateDoesNotStart = (name: string, reason: string): Problem =>
  new Problem(
    409,
    "CONFLICT",
    `Sandboxes of template ${name} do not become ready: ${reason.replace(/\.?$/, ".")}`,
    { hint: 'Build the template again, with "update": true.' },
  );

export const noRoomForLayers = (): Problem =>
  new Problem(507, "STORAGE_FULL", "This machine's disk is nearly full, so no template can be built.", {
    hint: "Delete templates that are no longer needed, or give the server another --data-dir.",
  });

export const tooManyBuilds = (limit: number): Problem =>
  new Problem(429, "RESOURCE_LIMIT_ERROR", `At most ${limit} builds may be running or waiting at a time.`, {
    hint: "Try again when one of the builds has ended.",
    details: { limit },
  });
