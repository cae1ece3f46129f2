/** Reads the options and serves, until the client leaves or a signal asks to stop. */
import { readOptions } from "./server/command-line.js";
import type { RequestId } from "./server/greeting.js";
import { serveOverStdio } from "./server/stdio.js";
import { offeredProfile } from "./server/tool-selection.js";
import { SharedBackend } from "./session/shared-backend.js";
import { OptionError } from "./settings/option-error.js";

function log(line: string): void {
  process.stderr.write(`cloud-sandbox-mcp: ${line}\n`);
}

async function serveAsAsked(greeted: RequestId | undefined): Promise<void> {
  const { profile, transport, keepSandboxes, ...options } = readOptions(process.argv, process.env);
  const offer = { profile: offeredProfile(profile, options), log };
  const local = profile.local?.(process.env);
  const backend = new SharedBackend({ environment: process.env, local, keepSandboxes, log });
  if (transport === "stdio") return serveOverStdio(offer, backend, greeted);
  const { serveOverHttp } = await import("./http/http-service.js");
  return serveOverHttp(offer, backend, options);
}

/** `greeted` is the id of an `initialize` that has been answered already. */
export async function serve(greeted: RequestId | undefined): Promise<void> {
  try {
    await serveAsAsked(greeted);
    // Connections that are kept alive for a next call would hold the process.
    process.exit();
  } catch (error) {
    if (!(error instanceof OptionError)) throw error;
    log(error.message);
    process.exitCode = 1;
  }
}
