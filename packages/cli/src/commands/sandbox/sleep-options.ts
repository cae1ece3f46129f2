import type { SleepOptions } from "cloud-sandbox";
import { type Command, Option } from "commander";
import { lifetime } from "../../command-line/option-values.js";

/** When a sandbox sleeps, as the command line gives it. */
export interface SleepChoice {
  readonly onTimeout?: NonNullable<SleepOptions["onTimeout"]>;
  readonly idleTimeout?: number;
  readonly autoStart?: boolean;
}

/** Adds the options that say when a sandbox sleeps. */
export function withSleepOptions(command: Command): Command {
  return command
    .addOption(
      new Option("--on-timeout <action>", "what happens at its deadline").choices([
        "delete",
        "stop",
        "pause",
      ]),
    )
    .option(
      "--idle-timeout <time>",
      "stop it when it was not used for so long, as in 10m; 0: never",
      (text) => (text === "0" ? 0 : lifetime(text)),
    )
    .option("--auto-start", "let commands, and requests to its ports, start it when it is stopped or paused");
}

/** Converts the options to those of the client. */
export const sleepChoice = ({ onTimeout, idleTimeout, autoStart }: SleepChoice): SleepOptions => ({
  onTimeout,
  idleTimeoutSeconds: idleTimeout,
  autoStart,
});
