import { posix } from "node:path";
import { languageNotAvailable } from "@cloud-sandbox/server-kit/handlers";
import { type Language, languageNamed } from "../execution/programs/languages.js";
import { type Program, shellProgram } from "../execution/programs/program.js";
import type { InstalledPrograms } from "../machine/installed-programs.js";

export interface LanguageSupport {
  readonly programs: InstalledPrograms;
  /** The languages that this sandbox's template offers. */
  readonly offers: (language: Language) => boolean;
}

/** The language of that name, if this sandbox has it. */
export async function availableLanguage(
  name: string,
  { programs, offers }: LanguageSupport,
): Promise<Language> {
  const language = languageNamed(name);
  if (!offers(language) || !(await programs.has(language.interpreter))) throw languageNotAvailable(language);
  return language;
}

const shells = ["bash", "sh", "/bin/bash", "/bin/sh"];

/** The program itself where there are arguments, else a shell that reads the command. */
export async function commandProgram(
  { command, args }: { readonly command: string; readonly args?: readonly string[] | null },
  programs: InstalledPrograms,
): Promise<Program> {
  const [option, line] = args ?? [];
  if (args?.length === 2 && option === "-c" && line !== undefined && shells.includes(command))
    return shellProgram(command, line);
  if (args) return { command, args };
  return shellProgram((await programs.has("bash")) ? "bash" : "sh", command);
}

export interface Placed {
  readonly timeout: number;
  readonly workdir?: string | null;
  readonly working_dir?: string | null;
  readonly env?: Readonly<Record<string, string>> | null;
}

/** Where, with what and for how long to run what a request asks for. */
export const placeOf = ({ timeout, workdir, working_dir, env }: Placed, workspace: string) => ({
  cwd: posix.resolve(workspace, workdir ?? working_dir ?? "."),
  env: env ?? {},
  timeout,
});
