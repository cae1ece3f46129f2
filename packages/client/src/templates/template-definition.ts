import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import { invalidArgument } from "../errors/errors.js";

/** Options of `copy`. */
export interface CopyOptions {
  /** Owner of the files, as `user:group`. */
  owner?: string | undefined;
  /** Octal mode of all files, such as `"0755"`. Default: their mode on this machine. */
  permissions?: string | undefined;
  /** Returns true for paths to leave out (relative to the context, with slashes). */
  exclude?: ((path: string) => boolean) | undefined;
}

/** A step of a definition. The files of a `copy` step are hashed and uploaded when the template is built. */
export type TemplateStep =
  | { kind: "ready"; step: ControlPlaneSchemas["TemplateStep"] }
  | { kind: "copy"; sources: readonly string[]; destination: string; options: CopyOptions };

/** The content of a `Template`, for the code that builds it. */
export interface TemplateDefinition {
  from: string;
  steps: readonly TemplateStep[];
  start?: { command: string; ready?: ControlPlaneSchemas["ReadyCheck"] };
}

/** Definitions by template. Kept here, so that the code that builds templates need not load the class `Template`. */
const definitions = new WeakMap<object, TemplateDefinition>();

export function define(template: object, definition: TemplateDefinition): void {
  definitions.set(template, definition);
}

export function templateDefinition(template: object): TemplateDefinition {
  const definition = definitions.get(template);
  if (definition === undefined) throw invalidArgument("The template must come from Template.from().");
  return definition;
}
