import type { SandboxClient } from "cloud-sandbox";
import type { Command } from "commander";
import { action } from "../../command-line/action.js";
import { forEachNamed } from "../../command-line/for-each-named.js";
import { lifetime } from "../../command-line/option-values.js";
import { subcommand } from "../../command-line/subcommand.js";
import { withSandboxId } from "../../connection/sandbox-by-name.js";
import { CommandError } from "../../errors/command-error.js";
import { moment, showSandbox } from "./sandbox-view.js";

/** The commands that show or change what a sandbox is: get, delete, pause, resume, stop, start, timeout. */
export function addStateCommands(parent: Command): void {
  subcommand(parent, "get <id>", "show a sandbox").action(
    action<object, [string]>(async ({ output, server, signal }, word) => {
      const client = await server();
      const get = (id: string) => client.sandboxes.get(id, { signal });
      await showSandbox(await withSandboxId(client, word, signal, get), output);
    }),
  );
  addDelete(parent);
  addChange(parent, "pause", "freeze sandboxes: their processes keep their memory");
  addChange(parent, "resume", "wake sandboxes after a pause");
  addChange(parent, "stop", "end the processes of sandboxes, and keep their files");
  addChange(parent, "start", "start sandboxes after a stop");
  subcommand(
    parent,
    "timeout <id> <time>",
    "set how long a sandbox lives from now, as in 90, 15m or 2h",
  ).action(
    action<object, [string, string]>(async ({ output, server, signal }, word, time) => {
      const client = await server();
      const seconds = lifetime(time);
      await withSandboxId(client, word, signal, async (id) => {
        const expiresAt = await client.sandboxes.setTimeout(id, seconds, { signal });
        output.done(`${id} ends at ${moment(expiresAt)}.`, { id, expiresAt });
      });
    }),
  );
}

function addChange(
  parent: Command,
  change: "pause" | "resume" | "stop" | "start",
  description: string,
): void {
  subcommand(parent, `${change} <id...>`, description).action(
    action<object, [string[]]>(async (call, words) => {
      const { output, server, signal } = call;
      const client = await server();
      const apply = async (id: string): Promise<void> => {
        const status = await client.sandboxes[change](id, { signal });
        output.done(`${id} is ${status}.`, { id, status });
      };
      await forEachNamed(words, call, (word) => withSandboxId(client, word, signal, apply));
    }),
  );
}

function addDelete(parent: Command): void {
  subcommand(parent, "delete [id...]", "delete sandboxes and everything in them")
    .alias("rm")
    .option("--all", "delete all sandboxes of the account")
    .action(
      action<{ all?: boolean }, [string[]]>(async (call, words) => {
        const { options, output, server, signal } = call;
        if ((options.all === true) === words.length > 0)
          throw new CommandError("USAGE", "Give the ids or names of the sandboxes, or --all.");
        const client = await server();
        const remove = async (id: string): Promise<void> => {
          // Look for the sandbox first: the client's delete also succeeds for one that does not exist, which would hide
          // a mistyped id.
          if (options.all !== true) await client.sandboxes.get(id, { signal });
          await client.sandboxes.delete(id, { signal });
          output.done(`${id} is deleted.`, { id, status: "deleted" });
        };
        const all = options.all === true ? await allIds(client, signal) : words;
        await forEachNamed(all, call, (word) => withSandboxId(client, word, signal, remove));
      }),
    );
}

async function allIds(client: SandboxClient, signal: AbortSignal): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of client.sandboxes.list({ signal })) ids.push(id);
  return ids;
}
