import { readFileSync } from "node:fs";
import type { Secrets } from "cloud-sandbox";
import { CommandError } from "../errors/command-error.js";

/** Where a secret comes from and goes to, as the command line gives it: a file or a variable, or the server that stores it. */
export type SecretSource =
  | { readonly hosts: readonly string[]; readonly file?: string }
  | { readonly from: string };

/**
 * Collects NAME@HOST[,HOST], a secret that a variable has, NAME=@FILE@HOST[,HOST], one that a file has, and NAME:STORED, one that the
 * server stores. A credential itself is refused: command lines are kept in histories, and all users can read them.
 */
function secretSource(
  text: string,
  others: Readonly<Record<string, SecretSource>> = {},
): Record<string, SecretSource> {
  const [, variable, from] = /^([A-Za-z_]\w*):([\w.-]+)$/.exec(text) ?? [];
  if (variable !== undefined && from !== undefined) return { ...others, [variable]: { from } };
  const [, name, file, hosts] = /^([A-Za-z_]\w*)(?:=@([^@]+))?@([^@]+)$/.exec(text) ?? [];
  if (name === undefined || hosts === undefined)
    throw invalid(
      "--secret must be NAME@HOST, which takes the credential from the variable NAME, NAME=@FILE@HOST, or NAME:STORED.",
      "Separate hosts by commas. The credential itself is not given on a command line.",
    );
  return { ...others, [name]: { hosts: hosts.split(","), ...(file !== undefined && { file }) } };
}

/** Collects the same, with the credentials themselves from this command's environment and from files. */
function secret(text: string, others: Secrets = {}): Secrets {
  const read = Object.entries(secretSource(text)).map(([name, source]) => {
    if ("from" in source) return [name, source];
    const { file, hosts } = source;
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

/** Collects NAME:STORED alone: a template is kept, and has no values. */
function storedSecret(text: string, others: Readonly<Record<string, { from: string }>> = {}) {
  const [[name, source] = ["", undefined]] = Object.entries(secretSource(text));
  if (source && "from" in source) return { ...others, [name]: source };
  throw invalid(
    "--secret of a template must be NAME:STORED.",
    'Store the secret with "cloud-sandbox secret set".',
  );
}

/** The option of secrets that the sandboxes of a template have. */
export const storedSecretOption = [
  "--secret <NAME:stored>",
  "a stored secret that its sandboxes have in the variable NAME; can be repeated",
  storedSecret,
] as const;

/** The option of secrets that a sandbox's code uses without having them, for commander. */
export const secretOption = [
  "--secret <NAME@host>",
  "a credential that code uses without having it: from the variable NAME, as NAME=@FILE@host from a file, or as NAME:STORED from the server; can be repeated",
  secret,
] as const;

/** The same for an MCP server, which is started later, and takes the credential then. */
export const serverSecretOption = [
  "--secret <NAME@host>",
  "a credential that the server uses without having it: from its variable NAME, as NAME=@FILE@host from a file, or as NAME:STORED from where sandboxes run; can be repeated",
  secretSource,
] as const;
