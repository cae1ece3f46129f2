import { rm } from "node:fs/promises";
import { Problem } from "@cloud-sandbox/server-kit";
import { fitsVariable, type Program, shellProgram } from "@cloud-sandbox/server-kit/execution";
import {
  languageNamed as knownLanguage,
  type LanguageName,
  languageNames,
} from "@cloud-sandbox/server-kit/handlers";
import type { PrivateDirectory } from "../../machine/private-directory.js";

/** A language that code can be executed in. */
export interface Language extends LanguageName {
  /** The program that runs the code. Undefined for a language whose code is run by the interpreter of a context. */
  readonly program?: (code: string, location: CodeLocation) => Program | Promise<Program>;
}

/** Where the file of code may be. */
export interface CodeLocation {
  readonly directory: PrivateDirectory;
  /** A path in the working directory, if the code has a name. */
  readonly named: string | undefined;
}

const bash: Language = {
  ...languageNames.bash,
  program: async (code, { directory, named }) => {
    const program = await fileProgram("bash", "execution-1.sh", code, directory);
    return named === undefined
      ? program
      : { ...program, args: ["--posix", "-c", copyAndRun, "bash", ...program.args, named] };
  },
};

/** Runs a copy of a file, which has a name that nothing has yet, or else the file itself. Only the shell that is not POSIX's reads `BASH_ENV`. */
const copyAndRun = `set -C; { cat <"$1" >"$2"; } 2>/dev/null && shift; exec bash "$1"`;

/**
 * Builds the code and replaces the shell with the binary, instead of `go run`, which would hide the program's exit
 * code.
 */
const go: Language = {
  ...languageNames.go,
  program: async (code, { directory }) => {
    const folder = await directory.folder();
    const file = await directory.write(folder, "main.go", code);
    return {
      command: "sh",
      args: ["-c", 'go build -o "$1" "$2" && exec "$1"', "go", `${folder}/main`, file],
      cleanUp: () => rm(folder, { recursive: true, force: true }),
    };
  },
};

/** Runs a command line of any length. */
export async function scriptProgram(
  shell: string,
  code: string,
  directory: PrivateDirectory,
): Promise<Program> {
  return fitsVariable(code) ? shellProgram(shell, code) : fileProgram(shell, "script.sh", code, directory);
}

/** Runs shell code as a file, which it knows as its own: `$0` and `BASH_SOURCE`. */
async function fileProgram(
  shell: string,
  name: string,
  code: string,
  directory: PrivateDirectory,
): Promise<Program> {
  const folder = await directory.folder();
  const file = await directory.write(folder, name, code);
  return { command: shell, args: [file], cleanUp: () => rm(folder, { recursive: true, force: true }) };
}

export const languages: readonly Language[] = [languageNames.python, languageNames.javascript, bash, go];

/** The language with that name or alias. Throws a 400 problem that lists the accepted names if there is none. */
export const languageNamed = (name: string): Language => knownLanguage(name, languages);

/** The refusal if the interpreter is installed but the request's `PATH` does not lead to it. */
export const languageOutOfReach = ({ name, interpreter }: Language) =>
  new Problem(400, "INVALID_REQUEST", `PATH is set to a value without ${interpreter}, which runs ${name}.`, {
    hint: `Keep the directories of the default PATH, as in PATH=/opt/venv/bin:${process.env.PATH ?? "/usr/bin:/bin"}, or leave PATH out.`,
    details: { language: name, interpreter },
  });
