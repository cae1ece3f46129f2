import type { ResourceUse, SandboxMetrics } from "cloud-sandbox";
import type { Command } from "commander";
import { action } from "../../command-line/action.js";
import { wholeNumber } from "../../command-line/option-values.js";
import { subcommand } from "../../command-line/subcommand.js";
import { withSandboxId } from "../../connection/sandbox-by-name.js";

/** The commands about a sandbox's machine: metrics and port. */
export function addMachineCommands(parent: Command): void {
  subcommand(parent, "metrics <id>", "show the CPU, memory and disk use of a sandbox")
    .option("-w, --watch", "keep running, and print a line every few seconds")
    .action(
      action<{ watch?: boolean }, [string]>(async ({ options, output, server, signal }, word) => {
        const client = await server();
        const get = (id: string) => client.sandboxes.get(id, { signal });
        const { metrics } = await withSandboxId(client, word, signal, get);
        if (options.watch !== true) {
          const now = await metrics.snapshot({ signal });
          return output.record(now, entries(now));
        }
        for await (const now of metrics.stream({ signal })) {
          if (output.isJson) output.json(now);
          else
            output.line(
              entries(now)
                .map(([title, value]) => `${title} ${value ?? "-"}`)
                .join("  "),
            );
        }
      }),
    );
  subcommand(
    parent,
    "port <id> <port>",
    "print the address of a port in a sandbox; anyone who knows it can open it",
  )
    .option("--path", "an address with the port in its path, for programs without wildcard host names")
    .option("--wait <seconds>", "wait until something listens there", wholeNumber(1, 300, " of seconds"))
    .action(
      action<{ path?: boolean; wait?: number }, [string, string]>(
        async ({ options, output, sandbox, signal }, word, text) => {
          const port = wholeNumber(1, 65_535)(text);
          const { id, ports } = await sandbox(word);
          if (options.wait !== undefined)
            await ports.waitForPort(port, { timeoutSeconds: options.wait, signal });
          const url = ports.previewUrl(port, { form: options.path === true ? "path" : "host" });
          if (output.isJson) output.json({ id, port, url });
          else output.line(url);
        },
      ),
    );
}

function entries(now: SandboxMetrics): ReadonlyArray<readonly [string, unknown]> {
  return [
    ["cpu", now.cpuPercent === undefined ? undefined : `${now.cpuPercent.toFixed(0)} %`],
    ["memory", used(now.memory)],
    ["disk", used(now.disk)],
    ["processes", now.processCount],
    ["executions", now.totalExecutions],
    ["uptime", now.uptimeSeconds === undefined ? undefined : `${Math.round(now.uptimeSeconds)} s`],
  ];
}

function used({ totalMb, usedMb }: ResourceUse): string | undefined {
  return usedMb === undefined ? undefined : `${Math.round(usedMb)} of ${Math.round(totalMb ?? 0)} MiB`;
}
