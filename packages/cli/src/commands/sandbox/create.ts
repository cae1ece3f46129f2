import { type Command, Option } from "commander";
import { action } from "../../command-line/action.js";
import { lifetime, pair } from "../../command-line/option-values.js";
import { examples, subcommand } from "../../command-line/subcommand.js";
import { CommandError } from "../../errors/command-error.js";
import { chosenTemplate } from "../chosen-template.js";
import { type CreationOptions, creation, withCreationOptions } from "./creation-options.js";
import { showSandbox } from "./sandbox-view.js";
import { type SleepChoice, sleepChoice, withSleepOptions } from "./sleep-options.js";

interface CreateOptions extends CreationOptions, SleepChoice {
  readonly snapshot?: string;
  readonly filesOnly?: boolean;
  readonly name?: string;
  readonly label?: Readonly<Record<string, string>>;
  readonly timeout?: number;
  readonly region?: string;
}

export function addCreate(parent: Command): void {
  const created = subcommand(parent, "create", "create a sandbox, and print its id");
  const command = withSleepOptions(withCreationOptions(created))
    .addOption(
      new Option("--snapshot <name>", "in place of --template, a snapshot to begin with").conflicts([
        "template",
        "image",
      ]),
    )
    .option("--files-only", "of the snapshot, only /workspace, /tmp and the home directory")
    .option("--name <text>", "a name, which commands take in place of the id")
    .option("--label <NAME=value>", "a label, to find it by; can be repeated", pair)
    .option("--timeout <time>", "how long it lives, as in 90, 15m, 2h; default: the server's", lifetime)
    .option("--region <name>", "where to run it, on a server with several regions")
    .action(
      action<CreateOptions>(async ({ options, output, server, signal }) => {
        const client = await server();
        output.progress("Creating a sandbox …");
        const { label: metadata, name, region, snapshot, filesOnly, timeout: timeoutSeconds } = options;
        const template = await chosenTemplate(client, options, { output, signal });
        const wanted = {
          ...creation(options),
          ...sleepChoice(options),
          template,
          snapshot,
          filesOnly,
          name,
          metadata,
          region,
          timeoutSeconds,
        };
        const sandbox = await client.sandboxes.create({ ...wanted, signal }).catch((error: unknown) => {
          throw inCommands(error, name);
        });
        await showSandbox(sandbox, output);
      }),
    );
  examples(
    command,
    "cloud-sandbox sandbox create --timeout 2h --label job=nightly",
    "id=$(cloud-sandbox sandbox create -q --internet off)",
  );
}

/** The error of a create, with advice in this command's options if the name is taken. */
function inCommands(error: unknown, name: string | undefined): unknown {
  const { code, summary } = Object(error) as { code?: unknown; summary?: unknown };
  const isTaken = code === "CONFLICT" && typeof summary === "string" && summary.includes("exists already");
  if (name === undefined || !isTaken) return error;
  const shown = /^[\w.-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`;
  return new CommandError(
    code,
    summary,
    `Use it: "cloud-sandbox sandbox get ${shown}" shows it. Or choose another name.`,
  );
}
