import { NotFoundError, type SandboxClient } from "cloud-sandbox";
import { type Command, Option } from "commander";
import type { Call } from "../command-line/action.js";
import { printable } from "../output/printable.js";

/** What a new sandbox is made of, as the command line gives it. */
export interface TemplateChoice {
  readonly template?: string;
  readonly image?: string;
}

/** Adds the options that choose the template of a new sandbox. */
export function withTemplateOptions(command: Command): Command {
  return command
    .option("--template <name>", "template of the sandbox; default: code-interpreter")
    .addOption(
      new Option(
        "--image <name>",
        "in place of --template, a container image that was imported, or that a template stands for",
      ).conflicts("template"),
    );
}

/**
 * The template that the options name. For an image, it is the one that was imported from it, else the one that stands for it; how that
 * one differs is printed.
 */
export async function chosenTemplate(
  client: SandboxClient,
  { image, template }: TemplateChoice,
  { output, signal }: Pick<Call<object>, "output" | "signal">,
): Promise<string | undefined> {
  if (image === undefined) return template;
  try {
    return (await client.templates.get(image, { signal })).name;
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
  }
  const match = await client.templates.forImage(image, { signal });
  for (const difference of match.differences) output.note(printable(difference));
  return match.template;
}
