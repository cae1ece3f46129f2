import type { Sandbox } from "cloud-sandbox";
import * as z from "zod";
import { InvalidArgumentsError } from "../../errors/errors.js";
import type { ToolContext } from "../../tools/definition/tool.js";

const rule = "must be 1 to 100 letters, digits, dots, dashes and underscores, the first a letter or digit";
const plainName = /^[A-Za-z0-9][\w.-]{0,99}$/;

export const sandboxInput = z.string("must be text").regex(plainName, rule).describe("Name of the sandbox");
export const namespaceInput = z
  .string("must be text")
  .regex(plainName, rule)
  .describe("Namespace of the sandbox");

export interface FullName {
  readonly namespace: string;
  readonly sandbox: string;
}

/** Joins namespace and name with a slash, which neither may contain. */
export function keyOf({ namespace, sandbox }: FullName): string {
  return `${namespace}/${sandbox}`;
}

export function fullNameOf(key: string): FullName {
  const [namespace = "", sandbox = ""] = key.split("/");
  return { namespace, sandbox };
}

/** Runs `work` in the running sandbox of that name. If there is none, throws an error that says how to start it. */
export async function inRunning<Result>(
  { namespace, sandbox, sandboxes }: FullName & Pick<ToolContext, "sandboxes">,
  work: (sandbox: Sandbox) => Promise<Result>,
): Promise<Result> {
  const result = await sandboxes.useNamed(keyOf({ namespace, sandbox }), work);
  if (result !== undefined) return result;
  throw new InvalidArgumentsError(
    `Sandbox ${sandbox} of namespace ${namespace} is not running. Start it with sandbox_start; sandbox_get_metrics with namespace * shows those that run.`,
  );
}
