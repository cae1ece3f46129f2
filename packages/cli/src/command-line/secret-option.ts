import { readFileSync } from "node:fs";
import type { Secrets } from "cloud-sandbox";
import { InvalidArgumentError } from "commander";

/**
 * Collects NAME@HOST[,HOST], a secret whose value is that of this command's variable NAME, and NAME=@FILE@HOST[,HOST], whose value is in
 * a file. A value itself is refused: command lines are kept in histories, and all users can read them.
 */
function secret(text: string, others: Secrets = {}): Secrets {
  const [, name, file, hosts] = /^([A-Za-z_]\w*)(?:=@([^@]+))?@([^@]+)$/.exec(text) ?? [];
  if (name === undefined || hosts === undefined)
    throw new InvalidArgumentError(
      "The value must be NAME@HOST, which takes the secret from this command's variable NAME, or NAME=@FILE@HOST; hosts are separated by commas. The secret itself is not given on a command line.",
    );
  const value = file === undefined ? process.env[name] : contentOf(file);
  if (!value) throw new InvalidArgumentError(`${name} is not set in this environment.`);
  return { ...others, [name]: { value, hosts: hosts.split(",") } };
}

function contentOf(file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    throw new InvalidArgumentError(`${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
}

/** The option of secrets that a sandbox's code uses without having them, for commander. */
export const secretOption = [
  "--secret <NAME@host>",
  "a credential that code uses without having it, from the variable NAME or, as NAME=@FILE@host, from a file; can be repeated",
  secret,
] as const;
