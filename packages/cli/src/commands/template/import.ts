import { ConflictError } from "cloud-sandbox";
import type { Command } from "commander";
import { action } from "../../command-line/action.js";
import { wholeNumber } from "../../command-line/option-values.js";
import { examples, subcommand } from "../../command-line/subcommand.js";
import { CommandError } from "../../errors/command-error.js";
import { printable } from "../../output/printable.js";
import { pulledImage, registryScheme } from "./pulled-image.js";

interface ImportOptions {
  readonly name?: string;
  readonly update?: boolean;
  readonly timeout?: number;
}

export function addImport(parent: Command): void {
  const command = subcommand(
    parent,
    "import <image>",
    "make a template of a container image: a file as docker save writes it, - for stdin, or docker://NAME in a registry",
  )
    .option("--name <name>", "name of the template; without it, the image's own")
    .option("--update", "replace a template of this name")
    .option("--timeout <seconds>", "time for the import", wholeNumber(1, 86_400))
    .action(
      action<ImportOptions, [string]>(async ({ options, output, server, signal }, source) => {
        const { timeout, update } = options;
        const client = await server();
        const reference = source.startsWith(registryScheme) ? source.slice(registryScheme.length) : undefined;
        if (reference !== undefined && !output.isJson) output.progress(`downloading ${reference}`);
        await using pulled = reference === undefined ? undefined : await pulledImage(reference, signal);
        const image = pulled?.path ?? (source === "-" ? process.stdin : source);
        const record = await client.templates
          .import(image, {
            name: options.name ?? reference,
            update,
            timeoutSeconds: timeout,
            signal,
            onProgress: ({ bytes, total }) => {
              if (output.isJson) return;
              output.progress(bytes === total ? "unpacking" : `${Math.floor(bytes / 2 ** 20)} MiB sent`);
            },
          })
          .catch((error: unknown) => {
            if (error instanceof ConflictError)
              throw new CommandError(
                error.code,
                error.summary,
                "Replace it with --update, or give another name with --name.",
              );
            throw error;
          });
        for (const difference of record.differences) output.note(printable(difference));
        output.done(`Template ${record.name} is ${record.status}.`, record);
      }),
    );
  examples(
    command,
    "cloud-sandbox template import image.tar",
    "docker save python:3.12-slim | cloud-sandbox template import -",
    "cloud-sandbox template import docker://python:3.12-slim",
  );
}
