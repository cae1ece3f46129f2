import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import { invalidArgument } from "../errors/errors.js";
import type { CopyOptions, Template } from "./template.js";

/** A step of a definition; files are uploaded, and named by what they are, when it is built. */
export type TemplateStep =
  | { kind: "ready"; step: ControlPlaneSchemas["TemplateStep"] }
  | { kind: "copy"; sources: readonly string[]; destination: string; options: CopyOptions };

/** What a template is made of, for whoever builds it. */
export interface TemplateDefinition {
  from: string;
  steps: readonly TemplateStep[];
  start?: { command: string; ready?: ControlPlaneSchemas["ReadyCheck"] };
}

/** Beside the templates, so that who builds one need not load what makes them. */
const definitions = new WeakMap<Template, TemplateDefinition>();

export function define(template: Template, definition: TemplateDefinition): void {
  definitions.set(template, definition);
}

export function templateDefinition(template: Template): TemplateDefinition {
  const definition = definitions.get(template);
  if (definition === undefined) throw invalidArgument("The template must come from Template.from().");
  return definition;
}
