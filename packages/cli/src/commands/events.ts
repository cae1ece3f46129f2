import type { EventType, SandboxEvent } from "cloud-sandbox";
import type { Command } from "commander";
import { action } from "../command-line/action.js";
import { listed } from "../command-line/option-values.js";
import { examples } from "../command-line/subcommand.js";
import { withSandboxId } from "../connection/sandbox-by-name.js";
import { printable } from "../output/printable.js";
import { moment } from "./sandbox/sandbox-view.js";

interface EventsOptions {
  readonly sandbox?: string;
  readonly type?: readonly string[];
  readonly since?: string;
}

export function define(command: Command): void {
  command
    .option("--sandbox <id>", "only events of this sandbox, by id or name")
    .option("--type <type>", "only events of this type, as in sandbox.failed; can be repeated", listed)
    .option("--since <id>", "begin after the event of this id; 0 for all that are kept")
    .action(
      action<EventsOptions>(async ({ options, output, server, signal }) => {
        const client = await server();
        const { sandbox: word, since } = options;
        // The server refuses types that there are not, and names those that there are.
        const types = options.type as readonly EventType[] | undefined;
        // A sandbox that is gone has events too, but no name any more.
        const sandbox =
          word === undefined || since !== undefined
            ? word
            : await withSandboxId(client, word, signal, async (id) => (await client.sandboxes.get(id)).id);
        for await (const event of client.events({ sandbox, since, types, signal })) {
          if (output.isJson) output.json(event);
          else output.line(output.isQuiet ? event.id : printable(lineOf(event)));
        }
      }),
    );
  examples(
    command,
    "cloud-sandbox events --type sandbox.failed --type egress.refused",
    "cloud-sandbox events --since 0 --sandbox mine --json",
  );
}

function lineOf(event: SandboxEvent): string {
  const { at, type, sandboxId, name, host, port, kind, outcome, buildId, keyId, reason } = event;
  const where = host === undefined ? undefined : `${host}:${port}`;
  const facts = [sandboxId, name, where, buildId, keyId, kind, outcome, reason];
  return [moment(at), type.padEnd(17), ...facts.filter((fact) => fact !== undefined)].join("  ");
}
