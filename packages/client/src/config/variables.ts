import { maskedValue } from "@cloud-sandbox/protocol";
import { invalidArgument } from "../errors/errors.js";
import { checkTexts, kindOf } from "./option-checks.js";

/** Checks environment variables. Refuses invalid names, and the mask that servers show in place of a secret value. */
export function checkedVariables(
  variables: Readonly<Record<string, string>>,
  option = "variables",
): Record<string, string> {
  checkTexts(option, variables);
  for (const [name, value] of Object.entries(variables)) {
    variableName(name);
    if (value !== maskedValue) continue;
    throw invalidArgument(
      `The value of ${name} is the mask that the server shows in place of a secret.`,
      "Leave the variable out of merge(), which keeps its value, or give the value itself.",
    );
  }
  return { ...variables };
}

export function variableName(name: string): string {
  if (typeof name !== "string")
    throw invalidArgument(
      `The name of a variable must be text; it is ${kindOf(name)}.`,
      "Write set(name, value), or merge({ NAME: value }) for several.",
    );
  if (/^[A-Za-z_]\w*$/.test(name)) return name;
  throw invalidArgument(
    `"${name}" is not a valid name of an environment variable.`,
    'A name is letters, digits and "_", and begins with no digit.',
  );
}
