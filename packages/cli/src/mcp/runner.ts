import { cacheDirectory } from "@cloud-sandbox/server-kit/user-cache";
import type { SandboxClient } from "cloud-sandbox";
import type { McpRunner, McpServerConfiguration } from "cloud-sandbox-mcp-runner";
import type { Call } from "../command-line/action.js";
import { openClient } from "../connection/open-client.js";

/** Calls `use` with a runner for one server. Closes the runner and its client afterwards. */
export async function withRunner<Result>(
  { options, output }: Call<object>,
  server: McpServerConfiguration,
  work: (runner: McpRunner) => Promise<Result>,
): Promise<Result> {
  const { McpRunner } = await import("cloud-sandbox-mcp-runner/runner");
  const client = await clientWithLayers(options.url, (text) => output.note(text));
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

/** The client of this command. A backend on this machine keeps installed servers for the next command. */
async function clientWithLayers(
  url: string | undefined,
  note: (text: string) => void,
): Promise<SandboxClient> {
  const { openWithLayers } = await import("cloud-sandbox-mcp-runner/configuration");
  return openWithLayers(cacheDirectory(process.env), async (dataDir) => {
    if (dataDir === undefined)
      note("other programs use the installed servers, so this one installs its server again.");
    const client = openClient(url, dataDir === undefined ? {} : { dataDir });
    if (client.backend === "cloud") return client;
    try {
      await client.health();
      return client;
    } catch (error) {
      await client.close();
      throw error;
    }
  });
}
