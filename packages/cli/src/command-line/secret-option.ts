import { readFileSync } from "node:fs";
import type { Secrets } from "cloud-sandbox";
import { CommandError } from "../errors/command-error.js";

/** Where a secret comes from and goes to, as the command line gives it. */
export interface SecretSource {
  readonly hosts: readonly string[];
  /** A file with the credential. Undefined if a variable has it. */
  readonly file?: string;
}

/**
 * Collects NAME@HOST[,HOST], a secret that a variable has, and NAME=@FILE@HOST[,HOST], one that a file has. A credential itself is
 * refused: command lines are kept in histories, and all users can read them.
 */
function secretSource(
  text: string,
  others: Readonly<Record<string, SecretSource>> = {},
): Record<string, SecretSource> {
  const [, name, file, hosts] = /^([A-Za-z_]\w*)(?:=@([^@]+))?@([^@]+)$/.exec(text) ?? [];
  if (name === undefined || hosts === undefined)
    throw invalid(
      "--secret must be NAME@HOST, which takes the credential from the variable NAME, or NAME=@FILE@HOST.",
      "Separate hosts by commas. The credential itself is not given on a command line.",
    );
  return { ...others, [name]: { hosts: hosts.split(","), ...(file !== undefined && { file }) } };
}

/** Collects the same, with the credentials themselves from this command's environment and from files. */
function secret(text: string, others: Secrets = {}): Secrets {
  const read = Object.entries(secretSource(text)).map(([name, { file, hosts }]) => {
    const value = file === undefined ? process.env[name] : contentOf(file);
    if (value) return [name, { value, hosts }];
    throw invalid(
      `--secret ${name}: the credential is empty, or ${name} is not set here.`,
      "Set the variable, or name a file.",
    );
  });
  return { ...others, ...Object.fromEntries(read) };
}

function contentOf(file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw invalid(`--secret: ${file} cannot be read (${code}).`, "Name a file that this user can read.");
  }
}

/** Not an error of commander's, which would repeat the argument: it may be the credential. */
const invalid = (message: string, hint: string): CommandError =>
  new CommandError("INVALID_SECRET", message, hint);

/** The option of secrets that a sandbox's code uses without having them, for commander. */
export const secretOption = [
  "--secret <NAME@host>",
  "a credential that code uses without having it, from the variable NAME or, as NAME=@FILE@host, from a file; can be repeated",
  secret,
] as const;

/** The same for an MCP server, which is started later, and takes the credential then. */
export const serverSecretOption = [
  "--secret <NAME@host>",
  "a credential that the server uses without having it, from its variable NAME or, as NAME=@FILE@host, from a file; can be repeated",
  secretSource,
] as const;
