#!/usr/bin/env node
import { parseArgs } from "node:util";
import { hopxProfile } from "./hopx-profile.js";
import { Session } from "./session.js";
import { serveOverStdio } from "./stdio.js";
import { version } from "./version.js";

const help = `cloud-sandbox-mcp ${version}: an MCP server that gives assistants isolated sandboxes to run code in.

Usage: cloud-sandbox-mcp [--help] [--version]

An MCP client starts it and talks to it over stdin and stdout. It ends when stdin ends, on SIGTERM and on SIGINT,
and deletes the sandboxes that it created.

Environment:
  CLOUD_SANDBOX_API_KEY    key of the cloud account (or HOPX_API_KEY)
  CLOUD_SANDBOX_BASE_URL   URL of the cloud (or HOPX_BASE_URL); default https://api.hopx.dev
  CLOUD_SANDBOX_BACKEND    cloud or local; default: cloud when there is a key, else local (sandboxes on this machine)
`;

function log(line: string): void {
  process.stderr.write(`cloud-sandbox-mcp: ${line}\n`);
}

function readOptions(): { help: boolean; version: boolean } | undefined {
  try {
    const options = {
      help: { type: "boolean", short: "h", default: false },
      version: { type: "boolean", default: false },
    } as const;
    return parseArgs({ options }).values;
  } catch (error) {
    log(`${error instanceof Error ? error.message : "unknown option"}. See --help.`);
    return undefined;
  }
}

const options = readOptions();
if (options === undefined) {
  process.exitCode = 1;
} else if (options.help || options.version) {
  process.stdout.write(options.help ? help : `${version}\n`);
} else {
  await serveOverStdio({ tools: hopxProfile, session: new Session(process.env, log), log });
  // Connections that are kept alive for a next call would hold the process.
  process.exit();
}
