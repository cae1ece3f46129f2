import type { Command } from "commander";
import { takeNoSharedOptions } from "./subcommand.js";

/**
 * Passes all arguments of a command, `--help` included, to another program. `load` imports that program, which reads them
 * from the command line of this process as if it had been started by itself.
 */
export function handOver(command: Command, words: readonly string[], load: () => Promise<unknown>): Command {
  takeNoSharedOptions(command);
  return command
    .allowUnknownOption()
    .allowExcessArguments()
    .helpOption(false)
    .action(async () => {
      process.argv.splice(2, depthOf(command), ...words);
      await load();
    });
}

/** How many words name the command: 2 for `mcp serve`. */
function depthOf(command: Command): number {
  return command.parent === null ? 0 : 1 + depthOf(command.parent);
}
