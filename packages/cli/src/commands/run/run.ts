import type { Command } from "commander";
import { InvalidArgumentError } from "commander";
import { action, type Call } from "../../command-line/action.js";
import { mountOption, onOrOff, variable, wholeNumber } from "../../command-line/option-values.js";
import { secretOption } from "../../command-line/secret-option.js";
import { examples } from "../../command-line/subcommand.js";
import { withTemplateOptions } from "../chosen-template.js";
import { programText } from "./program-text.js";
import type { RunOptions } from "./run-options.js";
import { runProgram } from "./run-program.js";

export function define(command: Command): void {
  withTemplateOptions(command)
    .argument("[file]", "file of the program; - or no file reads the program from standard input")
    .argument("[arguments...]", "arguments of the program, after --")
    .option("-c, --code <code>", "program text, instead of a file")
    .option(
      "-l, --language <name>",
      "python, javascript, typescript, bash or go; default: by the file's name, else python",
      language,
    )
    .option("-t, --timeout <seconds>", "time limit, 1 to 300", wholeNumber(1, 300, " of seconds"), 30)
    .option(
      "--internet <on|off>",
      "internet access of the sandbox; default: CLOUD_SANDBOX_INTERNET, else on",
      onOrOff,
    )
    .option(
      "-e, --env <NAME=value>",
      "environment variable of the program; can be repeated; NAME alone takes its value from here",
      variable,
    )
    .option(...mountOption)
    .option(...secretOption)
    .option("--save-plots <directory>", "save the plots that the program displays there")
    .option(
      "--work <directory>",
      "run in a copy of a directory of this machine, and ask which changes to keep",
    )
    .option("-y, --yes", "with --work: keep the changes without a question")
    .action(action(run));
  examples(
    command,
    "cloud-sandbox run --code 'print(6 * 7)'",
    "cloud-sandbox run report.py --save-plots plots -- 2024 --verbose",
    'cloud-sandbox run --work . --code \'open("made.txt", "w").write("made")\'',
    "echo 'echo $HOME' | cloud-sandbox run --language bash",
  );
}

async function run(
  call: Call<RunOptions>,
  first: string | undefined,
  rest: readonly string[],
): Promise<number> {
  const { code, language: asked } = call.options;
  const { args, file } = operands(first, rest);
  if (file !== undefined && code !== undefined)
    throw new InvalidArgumentError("Give a file or --code, not both; arguments of the program follow --.");
  const program = await programText(file, code, asked, call.signal);
  return runProgram(call, program, args);
}

/** Reads a language, by its name or by one that people also use. */
function language(text: string): string {
  const name = text.toLowerCase();
  if (languages.includes(name)) return name;
  const known = Object.hasOwn(otherNames, name) ? otherNames[name] : undefined;
  if (known !== undefined) return known;
  throw new InvalidArgumentError(`The value must be one of ${languages.join(", ")}.`);
}

const languages = ["python", "javascript", "typescript", "bash", "go"];
const otherNames: Readonly<Record<string, string>> = {
  golang: "go",
  js: "javascript",
  node: "javascript",
  nodejs: "javascript",
  py: "python",
  python3: "python",
  sh: "bash",
  shell: "bash",
  ts: "typescript",
};

/** Tells the file from arguments: what follows `--` are arguments, also when there is no file. */
function operands(
  first: string | undefined,
  rest: readonly string[],
): { file: string | undefined; args: readonly string[] } {
  const all = first === undefined ? [] : [first, ...rest];
  const words = process.argv.slice(2);
  const after = words.includes("--") ? words.length - words.indexOf("--") - 1 : 0;
  const before = all.slice(0, all.length - after);
  return { file: before[0], args: [...before.slice(1), ...all.slice(all.length - after)] };
}
