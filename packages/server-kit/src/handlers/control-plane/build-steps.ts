import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import { invalidBuild } from "./build-problems.js";

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
