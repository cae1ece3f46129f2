import type { Command } from "commander";
import { action } from "../../command-line/action.js";
import { lifetime, pair } from "../../command-line/option-values.js";
import { examples, subcommand } from "../../command-line/subcommand.js";
import { chosenTemplate } from "../chosen-template.js";
import { type CreationOptions, creation, withCreationOptions } from "./creation-options.js";
import { showSandbox } from "./sandbox-view.js";

interface CreateOptions extends CreationOptions {
  readonly name?: string;
  readonly label?: Readonly<Record<string, string>>;
  readonly timeout?: number;
  readonly region?: string;
}

export function addCreate(parent: Command): void {
  const command = withCreationOptions(subcommand(parent, "create", "create a sandbox, and print its id"))
    .option("--name <text>", "a name for people")
    .option("--label <NAME=value>", "a label, to find it by; can be repeated", pair)
    .option("--timeout <time>", "how long it lives, as in 90, 15m, 2h; default: the server's", lifetime)
    .option("--region <name>", "where to run it, on a server with several regions")
    .action(
      action<CreateOptions>(async ({ options, output, server, signal }) => {
        const client = await server();
        output.progress("Creating a sandbox …");
        const { label: metadata, name, region, timeout: timeoutSeconds } = options;
        const template = await chosenTemplate(client, options, { output, signal });
        const wanted = { ...creation(options), template, name, metadata, region, timeoutSeconds };
        await showSandbox(await client.sandboxes.create({ ...wanted, signal }), output);
      }),
    );
  examples(
    command,
    "cloud-sandbox sandbox create --timeout 2h --label job=nightly",
    "id=$(cloud-sandbox sandbox create -q --internet off)",
  );
}
