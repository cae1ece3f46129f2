import { type LocalBackendOptions, SandboxClient } from "cloud-sandbox";
import { CommandError } from "../errors/command-error.js";
import { chooseAccount } from "./account.js";
import { keepLine } from "./backend-log.js";

/**
 * Makes the client of a command. It installs no signal handlers, because commands have their own, and boots no spare
 * sandboxes, because a command needs one.
 */
export function openClient(url: string | undefined, local: LocalBackendOptions = {}): SandboxClient {
  const account = chooseAccount(url);
  return new SandboxClient({
    ...(account && { apiKey: account.apiKey, baseUrl: account.url }),
    deleteOnSignal: false,
    local: { pool: 0, log: keepLine, ...local },
  });
}

/** Refuses to run with the backend on this machine, because its sandboxes end with the command. */
export function requireServer({ backend }: SandboxClient): void {
  if (backend === "cloud") return;
  throw new CommandError(
    "SERVER_NEEDED",
    "There is no server: without one, sandboxes end with the command that made them.",
    'Start one with "cloud-sandbox serve", which prints what to type next, or log in to one with "cloud-sandbox login". "cloud-sandbox run" and "cloud-sandbox sandbox shell" need none.',
  );
}
