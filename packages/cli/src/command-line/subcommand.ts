import { type Command, Option } from "commander";

/** Adds a command with the options that every command has. */
export function subcommand(parent: Command, usage: string, description: string): Command {
  return withSharedOptions(parent.command(usage).description(description));
}

/** Adds the options that every command has, below its own. */
export function withSharedOptions(command: Command): Command {
  const heading = "Everywhere:";
  return command
    .addOption(new Option("--json", "print JSON; streams print a line for each event").helpGroup(heading))
    .addOption(new Option("-q, --quiet", "print the essence only, and no notes").helpGroup(heading))
    .addOption(
      new Option(
        "--url <address>",
        "the server; default: CLOUD_SANDBOX_BASE_URL, else the login's",
      ).helpGroup(heading),
    );
}

/** Adds examples below the help of a command. */
export function examples(command: Command, ...lines: readonly string[]): Command {
  return command.addHelpText("after", `\nExamples:\n${lines.map((line) => `  $ ${line}`).join("\n")}`);
}
