export interface HostLanguage {
  readonly language: "python" | "javascript" | "bash" | "go";
  /** The version as `--version` prints it, for example `3.11.2`. */
  readonly version: string;
}

/** The program of each language, and how it tells its version. */
export const languageTools = [
  { language: "python", program: "python3", args: ["--version"] },
  { language: "javascript", program: "node", args: ["--version"] },
  { language: "bash", program: "bash", args: ["--version"] },
  { language: "go", program: "go", args: ["version"] },
] as const;

/** The languages of an image. `run` starts a program in a machine of the image and resolves with its output. */
export async function languagesIn(
  run: (program: string, args: readonly string[]) => Promise<string>,
): Promise<readonly HostLanguage[]> {
  const found: HostLanguage[] = [];
  for (const { language, program, args } of languageTools) {
    const version = /\d+(\.\d+)+/.exec(await run(program, args).catch(() => ""))?.[0];
    if (version !== undefined) found.push({ language, version });
  }
  return found;
}
