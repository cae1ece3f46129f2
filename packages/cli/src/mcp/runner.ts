import { join } from "node:path";
import type { SandboxClient } from "cloud-sandbox";
import type { McpRunner, McpServerConfiguration } from "cloud-sandbox-mcp-runner";
import type { Call } from "../command-line/action.js";
import { openClient } from "../connection/open-client.js";
import { cacheDirectory } from "../start/cache-directory.js";

/** Calls `use` with a runner for one server. Closes the runner and its client afterwards. */
export async function withRunner<Result>(
  { options, output }: Call<object>,
  server: McpServerConfiguration,
  work: (runner: McpRunner) => Promise<Result>,
): Promise<Result> {
  const [{ McpRunner }, client] = await Promise.all([
    import("cloud-sandbox-mcp-runner"),
    clientWithLayers(options.url, (text) => output.note(text)),
  ]);
  try {
    await using runner = new McpRunner({
      client,
      onInstallLog: (line) => output.progress(line),
      onNotice: (notice) => output.note(notice),
    });
    runner.addServer(server);
    const result = await work(runner);
    output.endProgress();
    return result;
  } finally {
    await client.close();
  }
}

/** How many commands at a time can keep what they installed. Each uses its own directory, because backends share none. */
const mostKeeping = 4;

/**
 * The client of this command. A backend on this machine keeps installed servers for the next command, in the first directory
 * that no other command is using.
 */
async function clientWithLayers(
  url: string | undefined,
  note: (text: string) => void,
): Promise<SandboxClient> {
  for (let turn = 1; turn <= mostKeeping; turn += 1) {
    const name = turn === 1 ? "mcp-layers" : `mcp-layers-${turn}`;
    const client = openClient(url, { dataDir: join(cacheDirectory(), name) });
    if (client.backend === "cloud") return client;
    try {
      await client.health();
      return client;
    } catch (error) {
      await client.close();
      if (!isInUse(error)) throw error;
    }
  }
  note("other commands use the installed servers, so this one installs its server again.");
  return openClient(url);
}

/** Whether another command uses the directory, as the local backend says. */
function isInUse(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && "code" in cause && cause.code === "DATA_DIRECTORY_IN_USE";
}
