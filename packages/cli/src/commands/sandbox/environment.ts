import type { Command } from "commander";
import { action } from "../../command-line/action.js";
import { examples, subcommand } from "../../command-line/subcommand.js";
import { CommandError } from "../../errors/command-error.js";

export function define(command: Command): void {
  subcommand(
    command,
    "list <id>",
    "list the variables of a sandbox; values that look secret are masked",
  ).action(
    action<object, [string]>(async ({ output, sandbox, signal }, id) => {
      const { env } = await sandbox(id);
      const variables = await env.get({ signal });
      if (output.isJson) return output.json(variables);
      await output.table(
        Object.entries(variables).sort(),
        [
          { title: "NAME", value: ([name]) => name },
          { title: "VALUE", value: ([, value]) => value },
        ],
        'no variables; "cloud-sandbox env set" sets some.',
      );
    }),
  );
  const set = subcommand(
    command,
    "set <id> <variable...>",
    "set variables of a sandbox, for all later programs",
  )
    .addHelpText(
      "after",
      "\nFor a NAME alone, the value comes from this command's environment: other users can see a command's arguments.",
    )
    .action(
      action<object, [string, string[]]>(async ({ output, sandbox, signal }, id, texts) => {
        const variables = Object.fromEntries(texts.map(variable));
        const { env } = await sandbox(id);
        await env.merge(variables, { signal });
        const names = Object.keys(variables);
        output.done(`${names.join(", ")} set.`, { id, set: names });
      }),
    );
  examples(set, "cloud-sandbox env set ID MODE=fast", "cloud-sandbox env set ID DATABASE_PASSWORD");
  subcommand(command, "unset <id> <name...>", "remove variables of a sandbox").action(
    action<object, [string, string[]]>(async ({ output, sandbox, signal }, id, names) => {
      const { env } = await sandbox(id);
      for (const name of names) await env.unset(name, { signal });
      output.done(`${names.join(", ")} removed.`, { id, removed: names });
    }),
  );
}

function variable(text: string): [string, string] {
  const end = text.indexOf("=");
  if (end > 0) return [text.slice(0, end), text.slice(end + 1)];
  const value = process.env[text];
  if (end < 0 && value !== undefined) return [text, value];
  throw new CommandError(
    "USAGE",
    end < 0
      ? `There is no value for ${text}: it is not set in this environment either.`
      : `"${text}" has no name.`,
    "Write it as NAME=value.",
  );
}
