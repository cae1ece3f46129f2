import { type Command, Option } from "commander";

/** Adds a command below another. */
export function subcommand(parent: Command, usage: string, description: string): Command {
  return parent.command(usage).description(description);
}

/** Adds examples below the help of a command. */
export function examples(command: Command, ...lines: readonly string[]): Command {
  return command.addHelpText("after", `\nExamples:\n${lines.map((line) => `  $ ${line}`).join("\n")}`);
}

/** Commands whose arguments another program parses. */
const others = new WeakSet<Command>();

/** Excludes a command from the options that every command has. */
export function takeNoSharedOptions(command: Command): void {
  others.add(command);
}

/** Adds the options that every command has to each command that does something, after its own options. */
export function shareOptions(command: Command): void {
  for (const each of command.commands) shareOptions(each);
  if (command.commands.length > 0 || others.has(command)) return;
  const heading = "Everywhere:";
  for (const [flags, description] of shared)
    command.addOption(new Option(flags, description).helpGroup(heading));
  command.addHelpOption(new Option("-h, --help", "display help for command").helpGroup(heading));
}

const shared = [
  ["--json", "print JSON; streams print a line for each event"],
  ["-q, --quiet", "print only what scripts need, such as ids"],
  ["--url <address>", "address of the server; default: CLOUD_SANDBOX_BASE_URL, else that of the login"],
] as const;
