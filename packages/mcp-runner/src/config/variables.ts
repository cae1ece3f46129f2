import { McpConfigurationError } from "../errors.js";
import type { McpServerConfiguration } from "./server-configuration.js";

/** `${NAME}`, or `${NAME:-default}`. */
const reference = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

/** The variables of a server's process. References such as `${NAME}` are replaced with the values in `environment`. */
export function resolvedVariables(
  { env = {}, name: server }: Pick<McpServerConfiguration, "env" | "name">,
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const resolve = (key: string, value: string): string =>
    value.replace(reference, (_, name: string, otherwise: string | undefined) => {
      const found = environment[name] ?? otherwise;
      if (found !== undefined) return found;
      throw new McpConfigurationError({
        summary: `Server "${server}" takes ${key} from the variable ${name}, which is not set.`,
        hint: `Set ${name}, or give it a default: \${${name}:-default}.`,
        code: "VARIABLE_MISSING",
      });
    });
  return Object.fromEntries(Object.entries(env).map(([key, value]) => [key, resolve(key, value)]));
}
