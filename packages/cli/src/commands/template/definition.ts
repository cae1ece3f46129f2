import { readFile } from "node:fs/promises";
import { extname } from "node:path";
import type { Template } from "cloud-sandbox";
import { CommandError } from "../../errors/command-error.js";
import { dockerfileTemplate } from "./dockerfile.js";
import { moduleTemplate } from "./module.js";

/** Reads the definition of a template: a module by its ending, else a Dockerfile. */
export async function readDefinition(path: string): Promise<Template> {
  if (/^\.[cm]?[jt]s$/.test(extname(path))) return moduleTemplate(path);
  return dockerfileTemplate(await textOf(path), path);
}

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CommandError(
      "DEFINITION_UNREADABLE",
      code === "ENOENT" ? `${path} does not exist.` : `${path} cannot be read (${code}).`,
      "Give the path of a Dockerfile or a module with --file.",
    );
  }
}
