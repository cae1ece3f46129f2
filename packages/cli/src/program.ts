import { Command } from "commander";
import packageJson from "../package.json" with { type: "json" };
import { shareOptions } from "./command-line/subcommand.js";

/** A top-level command. Its code is loaded when the command is called. */
interface Entry {
  readonly name: string;
  readonly description: string;
  readonly heading: string;
  readonly load: () => Promise<{ define(command: Command, whole: () => Promise<Command>): void }>;
}

const entries: readonly Entry[] = [
  {
    name: "run",
    description: "run a program in a sandbox of its own, and print what it prints",
    heading: "Programs:",
    load: () => import("./commands/run/run.js"),
  },
  {
    name: "sandbox",
    description: "create sandboxes, work in them, and delete them",
    heading: "Sandboxes:",
    load: () => import("./commands/sandbox/sandbox.js"),
  },
  {
    name: "env",
    description: "list, set and remove the environment variables of a sandbox",
    heading: "Sandboxes:",
    load: () => import("./commands/sandbox/environment.js"),
  },
  {
    name: "egress",
    description: "show the connections that a sandbox asked for",
    heading: "Sandboxes:",
    load: () => import("./commands/sandbox/egress.js"),
  },
  {
    name: "events",
    description: "print what happens to sandboxes, as it happens",
    heading: "Sandboxes:",
    load: () => import("./commands/events.js"),
  },
  {
    name: "webhooks",
    description: "show and repeat webhook deliveries",
    heading: "Sandboxes:",
    load: () => import("./commands/sandbox/webhooks.js"),
  },
  {
    name: "cp",
    description: "copy files and directories between this machine and a sandbox",
    heading: "Files:",
    load: () => import("./commands/files/cp.js"),
  },
  {
    name: "ls",
    description: "list a directory of a sandbox",
    heading: "Files:",
    load: () => import("./commands/files/ls.js"),
  },
  {
    name: "cat",
    description: "print files of a sandbox",
    heading: "Files:",
    load: () => import("./commands/files/cat.js"),
  },
  {
    name: "rm",
    description: "remove files of a sandbox",
    heading: "Files:",
    load: () => import("./commands/files/rm.js"),
  },
  {
    name: "diff",
    description: "show what code has changed in its copy of a directory",
    heading: "Files:",
    load: () => import("./commands/changes/diff.js"),
  },
  {
    name: "apply",
    description: "write accepted changes to the directory that a sandbox has a copy of",
    heading: "Files:",
    load: () => import("./commands/changes/apply.js"),
  },
  {
    name: "template",
    description: "list, build and delete the templates of sandboxes",
    heading: "Templates:",
    load: () => import("./commands/template/template.js"),
  },
  {
    name: "volume",
    description: "create, list and delete volumes, which sandboxes mount",
    heading: "Volumes:",
    load: () => import("./commands/volume.js"),
  },
  {
    name: "snapshot",
    description: "keep files of sandboxes, to go back to them and to begin others with them",
    heading: "Volumes:",
    load: () => import("./commands/snapshot.js"),
  },
  {
    name: "secret",
    description: "store, list and delete secrets, which sandboxes name and never have",
    heading: "Volumes:",
    load: () => import("./commands/secret.js"),
  },
  {
    name: "mcp",
    description: "MCP servers: other people's in sandboxes, and this one for assistants",
    heading: "Assistants:",
    load: () => import("./mcp/mcp.js"),
  },
  {
    name: "serve",
    description: "serve sandboxes of this machine; takes the options of cloud-sandbox-local serve",
    heading: "Servers:",
    load: () => ofLocal("serve"),
  },
  {
    name: "doctor",
    description: "check whether this machine can isolate sandboxes, and say what is missing",
    heading: "Servers:",
    load: () => ofLocal("doctor"),
  },
  {
    name: "keys",
    description: "create, list and revoke further API keys of a server",
    heading: "Servers:",
    load: () => import("./commands/account/keys.js"),
  },
  {
    name: "login",
    description: "store an API key for later commands",
    heading: "This command:",
    load: () => import("./commands/account/login.js"),
  },
  {
    name: "logout",
    description: "remove the stored API key",
    heading: "This command:",
    load: () => import("./commands/account/logout.js"),
  },
  {
    name: "whoami",
    description: "show which server and which key commands use",
    heading: "This command:",
    load: () => import("./commands/account/whoami.js"),
  },
  {
    name: "completion",
    description: "print a script that completes commands in a shell",
    heading: "This command:",
    load: () => import("./commands/account/completion.js"),
  },
];

/**
 * The command line. Only the command that `words` name is built completely: the help on all commands needs only their
 * names.
 */
export async function createProgram(words: readonly string[]): Promise<Command> {
  const program = new Command("cloud-sandbox")
    .description("Isolated sandboxes: in the cloud or on a server with an API key, else on this machine.")
    .version(packageJson.version)
    .enablePositionalOptions()
    .exitOverride()
    // Commander wraps only descriptions that have 40 columns, and long names of commands leave them fewer of 80.
    .configureHelp({ minWidthToWrap: 20 })
    // main.ts reports failures, because it can print them as JSON.
    .configureOutput({ outputError: () => undefined })
    .addHelpText("after", help);
  const whole = async (): Promise<Command> => {
    for (const entry of entries) await complete(program, entry, whole);
    return program;
  };
  // Words may come before it: "help", or the value of an option that is refused.
  const called = words.find((word) => entries.some(({ name }) => name === word));
  for (const entry of entries) {
    program.command(entry.name).description(entry.description).helpGroup(entry.heading);
    if (entry.name === called) await complete(program, entry, whole);
  }
  return program;
}

/** A command of cloud-sandbox-local, with that one's options. */
async function ofLocal(name: string): ReturnType<Entry["load"]> {
  const { handOver } = await import("./command-line/hand-over.js");
  return { define: (command) => void handOver(command, [name], () => import("cloud-sandbox-local/main")) };
}

/** Gives a command its arguments, options and action, unless it has them already. */
async function complete(program: Command, entry: Entry, whole: () => Promise<Command>): Promise<void> {
  const command = program.commands.find((each) => each.name() === entry.name);
  if (command === undefined || command.options.length > 0 || command.commands.length > 0) return;
  const { define } = await entry.load();
  define(command, whole);
  shareOptions(command);
}

const help = `
Examples:
  $ cloud-sandbox run --code 'print(6 * 7)'
  $ cloud-sandbox run analysis.py --save-plots plots -- 2024
  $ cloud-sandbox sandbox shell

Exit codes: of run and exec, the program's own; 125 when the command could not do its work, 130 after Ctrl-C.`;
