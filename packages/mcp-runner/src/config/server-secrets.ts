import { readFileSync } from "node:fs";
import type { Secrets } from "cloud-sandbox";
import { McpConfigurationError } from "../errors.js";
import type { McpServerConfiguration } from "./server-configuration.js";

/**
 * The secrets of a server's sandbox, with their values, and the variables that its process gets: those that are secrets are left out,
 * because the sandbox has placeholders for them.
 */
export function withoutSecrets(
  { secrets, name: server }: Pick<McpServerConfiguration, "name" | "secrets">,
  variables: Readonly<Record<string, string>>,
  environment: Readonly<Record<string, string | undefined>>,
): { readonly secrets: Secrets | undefined; readonly variables: Readonly<Record<string, string>> } {
  if (secrets === undefined) return { secrets: undefined, variables };
  const credentialOf = (name: string, file: string | undefined): string => {
    const value = file === undefined ? (variables[name] ?? environment[name]) : contentOf(server, name, file);
    if (value) return value;
    throw new McpConfigurationError({
      summary: `Server "${server}" takes the secret ${name} from ${file ?? `the variable ${name}`}, which ${file === undefined ? "is not set" : "is empty"}.`,
      hint: `Set ${name} in the server's env or in your environment, or name a file with it.`,
      code: "VARIABLE_MISSING",
    });
  };
  const taken = Object.entries(secrets).map(([name, secret]) => {
    if ("from" in secret) return [name, secret];
    const { file, ...rules } = secret;
    return [name, { value: credentialOf(name, file), ...rules }];
  });
  const kept = Object.entries(variables).filter(([name]) => !Object.hasOwn(secrets, name));
  return { secrets: Object.fromEntries(taken), variables: Object.fromEntries(kept) };
}

function contentOf(server: string, name: string, file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    throw new McpConfigurationError({
      summary: `Server "${server}" takes the secret ${name} from ${file}, which cannot be read (${(error as NodeJS.ErrnoException).code}).`,
      hint: "Name a file that this user can read.",
      code: "VARIABLE_MISSING",
    });
  }
}
