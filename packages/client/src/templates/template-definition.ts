import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import { invalidArgument } from "../errors/errors.js";

/** What becomes of files that a definition copies. */
export interface CopyOptions {
  /** User and group of the files, as `user:group`. */
  owner?: string | undefined;
  /** Octal mode of all files, such as `"0755"`. Default: the mode that they have here. */
  permissions?: string | undefined;
  /** Leaves out what it gives true for, by the path relative to the context, with slashes. */
  exclude?: ((path: string) => boolean) | undefined;
}

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
const definitions = new WeakMap<object, TemplateDefinition>();

export function define(template: object, definition: TemplateDefinition): void {
  definitions.set(template, definition);
}

export function templateDefinition(template: object): TemplateDefinition {
  const definition = definitions.get(template);
  if (definition === undefined) throw invalidArgument("The template must come from Template.from().");
  return definition;
}
