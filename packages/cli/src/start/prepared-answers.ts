/**
 * The texts of --help and --version. The build runs this module and puts its exports into the bundle, so that printing them
 * loads neither the commands nor commander (rolldown.config.ts).
 */
import { version } from "../command-line/version.js";
import { createProgram } from "../program.js";

/** The width of texts, in columns, if standard output is not a terminal. */
const width = 80;

export const answers = { width, help: await help(), version: `${version}\n` };

async function help(): Promise<string> {
  const program = await createProgram([]);
  let text = "";
  program.configureOutput({
    getOutHelpWidth: () => width,
    getOutHasColors: () => false,
    writeOut: (written) => {
      text += written;
    },
  });
  program.outputHelp();
  return text;
}
