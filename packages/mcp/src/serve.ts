/** Reads the options and serves, until the client leaves or a signal asks to stop. */
import type { Gateway } from "./gateway/gateway.js";
import type { ClientKeys } from "./http/client-keys.js";
import { readOptions } from "./server/read-options.js";
import type { ServerOptions } from "./server/server-options.js";
import { serveOverStdio } from "./server/stdio.js";
import { offeredProfile } from "./server/tool-selection.js";
import { SharedBackend } from "./session/shared-backend.js";
import { OptionError } from "./settings.js";

function log(line: string): void {
  process.stderr.write(`cloud-sandbox-mcp: ${line}\n`);
}

async function serveAsAsked(): Promise<void> {
  const { profile, transport, keepSandboxes, applyWithoutAsking, ...options } = await readOptions(
    process.argv,
    process.env,
  );
  const gateway = await gatewayFor(options);
  const { additions, servers } = gateway ?? {};
  const offered = offeredProfile(gateway?.extend(profile) ?? profile, options);
  const offer = { profile: offered, additions, isConsentGiven: applyWithoutAsking, log };
  const local = { ...gateway?.local, ...profile.local?.(process.env) };
  const backend = new SharedBackend({ environment: process.env, local, keepSandboxes, servers, log });
  if (transport === "stdio") {
    if (process.stdin.isTTY)
      log(
        "no MCP client is connected: a client starts this command itself; --transport http serves clients on a port. Ctrl-C ends it.",
      );
    return serveOverStdio(offer, backend);
  }
  const { serveOverHttp } = await import("./http/http-service.js");
  const keys = options.clientKeys ? await clientKeys(keepSandboxes) : undefined;
  return serveOverHttp(offer, backend, { ...options, keys });
}

async function clientKeys(keepSandboxes: boolean): Promise<ClientKeys> {
  const { ClientKeys } = await import("./http/client-keys.js");
  const silent = (): void => undefined;
  return new ClientKeys(
    (apiKey) => new SharedBackend({ environment: process.env, apiKey, keepSandboxes, log: silent }),
  );
}

/** Loads the code for other people's MCP servers, if the options name some. */
async function gatewayFor(
  options: Pick<ServerOptions, "mcpConfig" | "mcpGateway" | "mcpServer" | "readOnly">,
): Promise<Gateway | undefined> {
  if (options.mcpGateway.length + options.mcpServer.length === 0) return undefined;
  const { openGateway } = await import("./gateway/gateway.js");
  return openGateway(options, process.env, log);
}

export async function serve(): Promise<void> {
  // Whatever a client or another server has caused, the sandboxes of all clients go on.
  process.on("unhandledRejection", (reason) => {
    log(`unexpected, please report: ${reason instanceof Error ? reason.stack : String(reason)}`);
  });
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
