import { readFile } from "node:fs/promises";
import { extname } from "node:path";
import { ConflictError, type Template, TemplateBuildError } from "cloud-sandbox";
import type { Command } from "commander";
import { action } from "../../command-line/action.js";
import { wholeNumber } from "../../command-line/option-values.js";
import { storedSecretOption } from "../../command-line/secret-option.js";
import { examples, subcommand } from "../../command-line/subcommand.js";
import { CommandError } from "../../errors/command-error.js";
import { printable } from "../../output/printable.js";
import { dockerfileTemplate } from "./dockerfile.js";
import { moduleTemplate } from "./module.js";

interface BuildOptions {
  readonly file: string;
  readonly context: string;
  readonly update?: boolean;
  readonly cache: boolean;
  readonly cpu?: number;
  readonly memory?: number;
  readonly disk?: number;
  readonly timeout?: number;
  readonly secret?: Readonly<Record<string, { from: string }>>;
}

export function addBuild(parent: Command): void {
  const command = subcommand(
    parent,
    "build <name>",
    "build a template from a definition, and print the log as it is written",
  )
    .option("-f, --file <path>", "a Dockerfile, or a module whose default export is a Template", "Dockerfile")
    .option("--context <directory>", "what the paths of COPY are relative to", ".")
    .option("--update", "replace a template of this name")
    .option("--no-cache", "run every step again")
    .option("--cpu <count>", "processors of its sandboxes", wholeNumber(1, 64))
    .option("--memory <MiB>", "memory of its sandboxes", wholeNumber(512, 64_000))
    .option("--disk <GiB>", "disk of its sandboxes", wholeNumber(1, 250))
    .option("--timeout <seconds>", "time for the build", wholeNumber(1, 86_400))
    .option(...storedSecretOption)
    .addHelpText(
      "after",
      `
A Dockerfile may have FROM (a template or an image), RUN, COPY, ENV, WORKDIR, USER and CMD, which every sandbox starts.`,
    )
    .action(
      action<BuildOptions, [string]>(async ({ options, output, server, signal }, name) => {
        const template = await readDefinition(options.file);
        const client = await server();
        let isOurs = false;
        const { cache, context, cpu, disk, memory, secret, timeout, update } = options;
        const building = client.templates.build(template, {
          name,
          context,
          update,
          cpu,
          memoryMb: memory,
          diskGb: disk,
          secrets: secret,
          timeoutSeconds: timeout,
          skipCache: !cache,
          signal,
          onLog: (line) => {
            if (output.isJson) output.json({ type: "log", line });
            else if (!output.isQuiet) output.line(printable(line));
          },
          onProgress: ({ percent, status, step }) => {
            isOurs = true;
            if (output.isJson) output.json({ type: "progress", status, percent, step });
            else output.progress(`${step ?? status}${percent === undefined ? "" : `, ${percent} %`}`);
          },
        });
        const record = await building.catch(async (error: unknown) => {
          // The server would go on with the build. One that updates a template stays, because the template would be lost.
          if (signal.aborted && isOurs && !update) await client.templates.delete(name).catch(() => undefined);
          throw inCommands(error, output.isQuiet);
        });
        if (output.isJson) output.json({ type: "result", template: record });
        else output.done(`Template ${record.name} is ${record.status}.`, record);
      }),
    );
  examples(
    command,
    "cloud-sandbox template build mine",
    "cloud-sandbox template build mine --file template.mjs --update",
  );
}

/** The error of a build, with advice in this command's options, and without the log if the log was printed. */
function inCommands(error: unknown, isQuiet: boolean): unknown {
  if (error instanceof ConflictError)
    return new CommandError(error.code, error.summary, "Replace it with --update, or choose another name.");
  if (!(error instanceof TemplateBuildError) || isQuiet) return error;
  const [reason = ""] = error.summary.split("\n");
  return new CommandError(error.code, reason.replace(/:$/, "."), "Correct the step and build again.");
}

/** Reads the definition of a template: a module by its ending, else a Dockerfile. */
async function readDefinition(path: string): Promise<Template> {
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
