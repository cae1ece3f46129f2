import type { Command, Option } from "commander";
import { action } from "../../command-line/action.js";
import { CommandError } from "../../errors/command-error.js";
import { bashScript, type Completion, fishScript, zshScript } from "./completion-scripts.js";

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript };
const shells = Object.keys(scripts);

export function define(command: Command, whole: () => Promise<Command>): void {
  command
    .argument("<shell>", shells.join(", "))
    .addHelpText(
      "after",
      `
bash: cloud-sandbox completion bash > ~/.local/share/bash-completion/completions/cloud-sandbox
zsh:  cloud-sandbox completion zsh > "\${fpath[1]}/_cloud-sandbox"
fish: cloud-sandbox completion fish > ~/.config/fish/completions/cloud-sandbox.fish`,
    )
    .action(
      action<object, [string]>(async ({ output }, shell) => {
        const script = scripts[shell as keyof typeof scripts];
        if (script === undefined)
          throw new CommandError(
            "USAGE",
            `There is no completion for ${shell}.`,
            `There is one for ${shells.join(", ")}.`,
          );
        const words = completions(await whole());
        if (output.isJson)
          output.json(Object.fromEntries(words.map(({ path, words: after }) => [path, after])));
        else output.write(script(words));
      }),
    );
}

/** The values of an option that are known: its choices, or those that its declaration names, as in `<on|off>`. */
function valuesOf({ argChoices, flags, long }: Option): readonly string[] {
  const [, named] = /<(\w+(?:\|\w+)+)>/.exec(flags) ?? [];
  return argChoices ?? named?.split("|") ?? (long === "--language" ? languages : []);
}

/** The languages that every template has; an own template may have others. */
const languages = ["python", "javascript", "typescript", "bash", "go"];

/** Every command of the tree with the commands and options that can follow it. */
function completions(command: Command, path = ""): Completion[] {
  const help = command.createHelp();
  const commands = help.visibleCommands(command);
  const options = help.visibleOptions(command);
  const words = [
    ...commands.map((each) => ({ word: each.name(), description: each.description() })),
    ...options.map((each) => ({
      word: each.long ?? each.short ?? "",
      description: each.description,
      ...(each.long !== undefined && each.short !== undefined && { short: each.short }),
      ...(each.required && { values: valuesOf(each) }),
    })),
  ];
  const below = commands
    .filter((each) => each.name() !== "help")
    .flatMap((each) => completions(each, `${path} ${each.name()}`.trim()));
  return [{ path, words }, ...below];
}
