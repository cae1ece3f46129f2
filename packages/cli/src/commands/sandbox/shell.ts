import type { Sandbox } from "cloud-sandbox";
import type { Command } from "commander";
import { action, type Call } from "../../command-line/action.js";
import { subcommand } from "../../command-line/subcommand.js";
import { followed } from "../../connection/followed.js";
import { CommandError } from "../../errors/command-error.js";
import { AttachedScreen } from "../../output/attached-terminal.js";
import { chosenTemplate } from "../chosen-template.js";
import { type CreationOptions, creation, withCreationOptions } from "./creation-options.js";

interface ShellOptions extends CreationOptions {
  readonly shell?: string;
}

/**
 * Lifetime in seconds of a sandbox that `shell` creates. It is extended while the shell runs, and the sandbox is
 * deleted when the shell ends.
 */
const lifetime = 3600;

export function addShell(parent: Command): void {
  withCreationOptions(
    subcommand(
      parent,
      "shell [id]",
      "open a terminal in a sandbox; without an id, in a new one that is deleted when the shell ends",
    ),
  )
    .option("--shell <program>", "the program to run; default: bash, or sh")
    .action(action<ShellOptions, [string | undefined]>(shell));
}

async function shell(call: Call<ShellOptions>, id: string | undefined): Promise<number> {
  const { options, output, signal } = call;
  if (!process.stdin.isTTY || !process.stdout.isTTY)
    throw new CommandError(
      "TERMINAL_NEEDED",
      "A shell needs a terminal as standard input and output.",
      'Run a command with "cloud-sandbox sandbox exec".',
    );
  if (id !== undefined) return attach(await call.sandbox(id), call);
  const client = await call.client();
  output.progress("Creating a sandbox …");
  const template = await chosenTemplate(client, options, call);
  const wanted = { ...creation(options), template, timeoutSeconds: lifetime };
  const sandbox = await client.sandboxes.create({ ...wanted, signal });
  return followed(
    () => attach(sandbox, call),
    () => sandbox.delete(),
  );
}

async function attach(sandbox: Sandbox, { options, output, signal }: Call<ShellOptions>): Promise<number> {
  const screen = new AttachedScreen();
  const terminal = await sandbox.terminal.open({
    ...screen.size,
    shell: options.shell,
    resumable: {
      onLost: () => screen.showLost(),
      onReconnect: () => screen.showRestored(terminal),
    },
    signal,
  });
  output.endProgress();
  const alive = sandbox.keepAlive({ seconds: lifetime });
  try {
    return await screen.attach(terminal);
  } finally {
    alive.stop();
  }
}
