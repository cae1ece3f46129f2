import { rm } from "node:fs/promises";
import { Problem } from "@cloud-sandbox/server-kit";
import { fitsVariable, type Program, shellProgram } from "@cloud-sandbox/server-kit/execution";
import {
  languageNamed as knownLanguage,
  type LanguageName,
  languageNames,
} from "@cloud-sandbox/server-kit/handlers";
import type { PrivateDirectory } from "../../machine/private-directory.js";
import pythonDriver from "./python-driver.py?raw";

/** A language that code can be executed in: the program that runs it, and how the code is passed to it. */
export interface Language extends LanguageName {
  readonly program: (code: string, directory: PrivateDirectory) => Program | Promise<Program>;
}

const python: Language = {
  ...languageNames.python,
  program: (code) => ({ command: "python3", args: ["-c", pythonDriver], input: code }),
};

/**
 * Node.js decides by its syntax whether code is an ES module or a script. A module has no `require`, but much code uses
 * both top-level await and `require`, so a global `require` is preloaded.
 */
const javascript: Language = {
  ...languageNames.javascript,
  program: async (code, directory) => ({
    command: "node",
    args: ["--require", await directory.keep("require.cjs", requireInModules), "-"],
    input: code,
  }),
};

const requireInModules = `globalThis.require ??= require("node:module").createRequire(process.cwd() + "/");\n`;

const bash: Language = {
  ...languageNames.bash,
  program: async (code, directory) => {
    if (fitsVariable(code)) return shellProgram("bash", code);
    const folder = await directory.folder();
    const file = await directory.write(folder, "script.sh", code);
    return { command: "bash", args: [file], cleanUp: () => rm(folder, { recursive: true, force: true }) };
  },
};

/**
 * Builds the code and replaces the shell with the binary, instead of `go run`, which would hide the program's exit
 * code.
 */
const go: Language = {
  ...languageNames.go,
  program: async (code, directory) => {
    const folder = await directory.folder();
    const file = await directory.write(folder, "main.go", code);
    return {
      command: "sh",
      args: ["-c", 'go build -o "$1" "$2" && exec "$1"', "go", `${folder}/main`, file],
      cleanUp: () => rm(folder, { recursive: true, force: true }),
    };
  },
};

export const languages: readonly Language[] = [python, javascript, bash, go];

/** The language with that name or alias. Throws a 400 problem that lists the accepted names if there is none. */
export const languageNamed = (name: string): Language => knownLanguage(name, languages);

/** The refusal if the interpreter is installed but the request's `PATH` does not lead to it. */
export const languageOutOfReach = ({ name, interpreter }: Language) =>
  new Problem(400, "INVALID_REQUEST", `PATH is set to a value without ${interpreter}, which runs ${name}.`, {
    hint: `Keep the directories of the default PATH, as in PATH=/opt/venv/bin:${process.env.PATH ?? "/usr/bin:/bin"}, or leave PATH out.`,
    details: { language: name, interpreter },
  });
