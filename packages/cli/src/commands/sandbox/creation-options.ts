import type { CreateSandboxOptions, Isolation, Mounts, Secrets } from "cloud-sandbox";
import { type Command, Option } from "commander";
import {
  fraction,
  listed,
  mountOption,
  onOrOff,
  variable,
  wholeNumber,
} from "../../command-line/option-values.js";
import { secretOption } from "../../command-line/secret-option.js";
import { type TemplateChoice, withTemplateOptions } from "../chosen-template.js";

/** Options of a new sandbox, as the command line gives them. */
export interface CreationOptions extends TemplateChoice {
  readonly internet?: boolean;
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  readonly ask?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  readonly mount?: Mounts;
  readonly secret?: Secrets;
  readonly memory?: number;
  readonly cpu?: number;
  readonly minIsolation?: Isolation;
}

/** Adds the options that say what a new sandbox is like. */
export function withCreationOptions(command: Command): Command {
  return withTemplateOptions(command)
    .option("--internet <on|off>", "internet access of the sandbox; default: the server's", onOrOff)
    .option("--allow <destination>", "allow only this host or address range; can be repeated", listed)
    .option("--deny <destination>", "refuse this host or address range; can be repeated", listed)
    .option("--ask", "hold connections to hosts that neither names, until somebody decides: see egress --ask")
    .option(
      "-e, --env <NAME=value>",
      "environment variable; can be repeated; NAME alone takes its value from here",
      variable,
    )
    .option(...mountOption)
    .option(...secretOption)
    .option("--memory <MiB>", "memory of the sandbox", wholeNumber(128, 1_048_576))
    .option("--cpu <count>", "processors of the sandbox, as in 0.5", fraction(0.05, 1024))
    .addOption(
      new Option("--min-isolation <level>", "the weakest isolation to accept").choices([
        "namespace",
        "container",
        "gvisor",
        "microvm",
      ]),
    );
}

/** Converts the options to those of the client, but for the template. */
export function creation(options: CreationOptions): CreateSandboxOptions {
  const {
    allow,
    ask,
    cpu,
    deny,
    env,
    internet,
    memory,
    minIsolation,
    mount: mounts,
    secret: secrets,
  } = options;
  const hasRules = allow !== undefined || deny !== undefined || ask !== undefined;
  const hasLimits = cpu !== undefined || memory !== undefined;
  return {
    internetAccess: internet,
    env,
    mounts,
    secrets,
    minIsolation,
    egress: hasRules ? { allow, deny, ask } : undefined,
    limits: hasLimits ? { memoryMb: memory, vcpu: cpu } : undefined,
  };
}
