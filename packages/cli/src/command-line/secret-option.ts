import { readFileSync } from "node:fs";
import type { Secrets } from "cloud-sandbox";
import { CommandError } from "../errors/command-error.js";

/**
 * Collects NAME@HOST[,HOST], a secret whose value is that of this command's variable NAME, and NAME=@FILE@HOST[,HOST], whose value is in
 * a file. A value itself is refused: command lines are kept in histories, and all users can read them.
 */
function secret(text: string, others: Secrets = {}): Secrets {
  const [, name, file, hosts] = /^([A-Za-z_]\w*)(?:=@([^@]+))?@([^@]+)$/.exec(text) ?? [];
  if (name === undefined || hosts === undefined)
    throw invalid(
      "--secret must be NAME@HOST, which takes the credential from this command's variable NAME, or NAME=@FILE@HOST.",
      "Separate hosts by commas. The credential itself is not given on a command line.",
    );
  const value = file === undefined ? process.env[name] : contentOf(file);
  if (!value)
    throw invalid(
      `--secret ${name}: the credential is empty, or ${name} is not set here.`,
      "Set the variable, or name a file.",
    );
  return { ...others, [name]: { value, hosts: hosts.split(",") } };
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
