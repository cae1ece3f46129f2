import { posix } from "node:path";
import type { Program } from "@cloud-sandbox/server-kit/execution";
import { languageNotAvailable } from "@cloud-sandbox/server-kit/handlers";
import { type Language, languageNamed, scriptProgram } from "../execution/programs/languages.js";
import type { InstalledPrograms } from "../machine/installed-programs.js";
import type { PrivateDirectory } from "../machine/private-directory.js";

export interface LanguageSupport {
  readonly programs: InstalledPrograms;
  /** Whether this sandbox's template offers a language. */
  readonly offers: (language: Language) => boolean;
}

/**
 * The language with that name. Throws a problem if there is none, or if this sandbox does not offer it or has no
 * interpreter for it.
 */
export async function availableLanguage(
  name: string,
  { programs, offers }: LanguageSupport,
): Promise<Language> {
  const language = languageNamed(name);
  if (!offers(language) || !(await programs.has(language.interpreter))) throw languageNotAvailable(language);
  return language;
}

export interface CommandSupport {
  readonly programs: InstalledPrograms;
  /** For lines that are too long for an argument. */
  readonly directory: PrivateDirectory;
}

const shells = ["bash", "sh", "/bin/bash", "/bin/sh"];

/**
 * The program for a command. With `args`, the command is started directly; without, a shell (bash, else sh)
 * interprets it. The arguments `-c` and a line for `bash` mean the same shell.
 */
export async function commandProgram(
  { command, args }: { readonly command: string; readonly args?: readonly string[] | null },
  { directory, programs }: CommandSupport,
): Promise<Program> {
  const [option, line] = args ?? [];
  const shell = async () => ((await programs.has("bash")) ? "bash" : "sh");
  if (args?.length === 2 && option === "-c" && line !== undefined && shells.includes(command))
    // Clients send their commands to bash, which some images lack.
    return scriptProgram(command === "bash" ? await shell() : command, line, directory);
  if (args) return { command, args };
  return scriptProgram(await shell(), command, directory);
}

export interface ProcessRequest {
  readonly timeout: number;
  readonly workdir?: string | null;
  readonly working_dir?: string | null;
  readonly env?: Readonly<Record<string, string>> | null;
}

/**
 * The directory that a request names, for a sandbox whose programs start in `home`. HOPX's clients always send
 * `/workspace`, so exactly that text means `home`; `/workspace/` means the directory of that name.
 */
export const directoryNamed = (name: string, home: string): string =>
  name === "/workspace" ? home : posix.resolve(home, name);

/** The working directory, environment and time limit of a request. */
export const processSettings = ({ timeout, workdir, working_dir, env }: ProcessRequest, home: string) => ({
  cwd: directoryNamed(workdir ?? working_dir ?? ".", home),
  env: env ?? {},
  timeout,
});
