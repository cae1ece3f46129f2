import type { Command, CommanderError } from "commander";

/** What to do next after a command line that cannot be parsed. Undefined if the message of commander says it. */
export function usageHint(
  program: Command,
  words: readonly string[],
  { code, message }: CommanderError,
): string | undefined {
  // Commander's message names the option as it is declared, as in `--env <NAME=value...>`.
  if (code === "commander.invalidArgument") return message.includes("...>'") ? greedy : undefined;
  const { command, path } = calledCommand(program, words);
  if (code === "commander.unknownCommand") {
    const word = /'(.*)'/.exec(message)?.[1] ?? "";
    const known = Object.hasOwn(otherWords, word) ? otherWords[word] : undefined;
    if (known !== undefined) return `Did you mean "cloud-sandbox ${known}"?`;
    return similar(message) ?? `"${path} --help" lists the commands.`;
  }
  if (code === "commander.missingArgument") {
    const isGreedy = command.options.some(({ long = "", variadic }) => variadic && words.includes(long));
    return `Usage: ${path} ${command.usage()}.${isGreedy ? ` ${greedy}` : ""}`;
  }
  return optionTooEarly(program, words, message) ?? similar(message) ?? `"${path} --help" lists the options.`;
}

/** Where to give an option that the command has, but that stands before the command's name. */
function optionTooEarly(program: Command, words: readonly string[], message: string): string | undefined {
  const option = /'(-[^=']*)/.exec(message)?.[1];
  const names = program.commands.map((each) => each.name());
  const first = words.findIndex((word) => names.includes(word));
  if (option === undefined || first === -1) return undefined;
  const { command, path } = calledCommand(program, words.slice(first));
  const isItsOwn = command.options.some(({ long, short }) => option === long || option === short);
  return isItsOwn ? `Give it after the command, as in "${path} ${option}".` : undefined;
}

const greedy =
  "Options that take several values take all words up to the next option: give them after the arguments.";

/** Commander's own suggestion, which follows its message on a line of its own. */
function similar(message: string): string | undefined {
  const [, suggestion] = /\n\((.*)\)$/s.exec(message) ?? [];
  return suggestion;
}

/** What to parse for help on the command that the words name: if there is none, what reports that. */
export function wordsOfHelp(program: Command, words: readonly string[]): string[] {
  const { command, unknown } = calledCommand(program, words);
  return unknown !== undefined && command.commands.length > 0 ? [...words] : [...words, "--help"];
}

/** The command that the words name, its name with those of the commands above, and the first word that names none below it. */
function calledCommand(
  program: Command,
  words: readonly string[],
): { command: Command; path: string; unknown?: string } {
  let command = program;
  let path = program.name();
  for (const word of words.filter((each) => !each.startsWith("-"))) {
    const next = command.commands.find((each) => each.name() === word || each.aliases().includes(word));
    if (next === undefined) return { command, path, unknown: word };
    command = next;
    path += ` ${next.name()}`;
  }
  return { command, path };
}

/** Words that other tools use, or that need a group here, and the commands that do this. */
const otherWords: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ["create", "delete", "exec", "get", "list", "logs", "metrics", "pause", "port", "resume", "shell"].map(
      (name) => [name, `sandbox ${name}`],
    ),
  ),
  attach: "sandbox shell",
  build: "template build",
  connect: "sandbox shell",
  copy: "cp",
  images: "template list",
  import: "template import",
  inspect: "sandbox get",
  kill: "sandbox delete",
  ps: "sandbox list",
  quick: "mcp quick",
  sandboxes: "sandbox list",
  snapshot: "template build",
  ssh: "sandbox shell",
  start: "sandbox start",
  stats: "sandbox metrics",
  stop: "sandbox stop",
  templates: "template list",
  timeout: "sandbox timeout",
  wrap: "mcp wrap",
};
