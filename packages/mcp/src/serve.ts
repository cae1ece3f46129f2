/** Reads the options and serves, until the client leaves or a signal asks to stop. */
import { readOptions } from "./server/read-options.js";
import { serveOverStdio } from "./server/stdio.js";
import { offeredProfile } from "./server/tool-selection.js";
import { SharedBackend } from "./session/shared-backend.js";
import { OptionError } from "./settings/option-error.js";

function log(line: string): void {
  process.stderr.write(`cloud-sandbox-mcp: ${line}\n`);
}

async function serveAsAsked(): Promise<void> {
  const { profile, transport, keepSandboxes, ...options } = await readOptions(process.argv, process.env);
  const offer = { profile: offeredProfile(profile, options), log };
  const local = profile.local?.(process.env);
  const backend = new SharedBackend({ environment: process.env, local, keepSandboxes, log });
  if (transport === "stdio") return serveOverStdio(offer, backend);
  const { serveOverHttp } = await import("./http/http-service.js");
  return serveOverHttp(offer, backend, options);
}

export async function serve(): Promise<void> {
  try {
    await serveAsAsked();
    // Exit explicitly: idle keep-alive connections would keep the process running.
    process.exit();
  } catch (error) {
    if (!(error instanceof OptionError)) throw error;
    log(error.message);
    process.exitCode = 1;
  }
}
