import { setTimeout as sleep } from "node:timers/promises";
import type { SandboxClient } from "cloud-sandbox";
import type { Command } from "commander";
import { action } from "../../command-line/action.js";
import { wholeNumber } from "../../command-line/option-values.js";
import { answered } from "../../connection/answered.js";
import { withSandboxId } from "../../connection/sandbox-by-name.js";
import { printable } from "../../output/printable.js";
import type { Column } from "../../output/table.js";
import { moment } from "./sandbox-view.js";

interface EgressOptions {
  readonly follow?: boolean;
  readonly ask?: boolean;
  readonly limit: number;
}

const columns: readonly Column<EgressEntry>[] = [
  { title: "TIME", value: ({ time }) => moment(new Date(time)), isWhole: true },
  { title: "DECISION", value: ({ decision }) => decision },
  { title: "DESTINATION", value: ({ host, port }) => `${host}:${port}` },
  { title: "SENT", value: ({ bytes_sent }) => bytes_sent },
  { title: "RECEIVED", value: ({ bytes_received }) => bytes_received },
  { title: "REASON", value: ({ reason }) => reason },
];
/** Milliseconds between two requests for the log. */
const interval = 500;

export function define(command: Command): void {
  command
    .argument("<id>", "id or name of the sandbox")
    .option("-f, --follow", "keep running, and print each new connection that was allowed or refused")
    .option("--ask", "keep running, and ask here about each host that programs wait for")
    .option("--limit <count>", "how many to show, the latest", wholeNumber(1, 1000), 100)
    .action(
      action<EgressOptions, [string]>(async ({ options, output, server, signal }, word) => {
        const client = await server();
        const [id, latest] = await withSandboxId(client, word, signal, async (id) => {
          return [id, await connections(client, id, options.limit, signal)] as const;
        });
        if (options.ask === true) {
          const { askAboutHosts } = await import("./asked-hosts.js");
          return askAboutHosts(client, id, output, signal);
        }
        if (options.follow !== true)
          return output.table(latest, columns, "no connections yet; --follow waits for them.");
        const printed = new PrintedConnections();
        for (let entries = latest; ; entries = await connections(client, id, 1000, signal)) {
          for (const entry of printed.fresh(entries)) {
            if (output.isJson) output.json(entry);
            else
              output.line(
                columns
                  .map(({ value }) => printable(String(value(entry) ?? "")))
                  .join("  ")
                  .trimEnd(),
              );
          }
          await sleep(interval, undefined, { signal });
        }
      }),
    );
}

/** The latest connections, oldest first. */
async function connections(client: SandboxClient, id: string, limit: number, signal: AbortSignal) {
  const init = { params: { path: { id }, query: { limit } }, signal };
  const { data } = answered(await client.controlPlane.GET("/v1/sandboxes/{id}/egress", init));
  return [...data].reverse();
}

type EgressEntry = Awaited<ReturnType<typeof connections>>[number];

/** Remembers which connections were printed. Connections have no ids, so those with equal fields are counted. */
class PrintedConnections {
  #keys: ReadonlySet<string> = new Set();

  /** The connections that were allowed or refused and are not printed yet. */
  fresh(entries: readonly EgressEntry[]): EgressEntry[] {
    const counts = new Map<string, number>();
    const keys = new Set<string>();
    const fresh = entries.filter((entry) => {
      const alike = JSON.stringify([entry.time, entry.protocol, entry.host, entry.port]);
      const count = (counts.get(alike) ?? 0) + 1;
      counts.set(alike, count);
      if (entry.decision === "pending") return false;
      const key = `${alike}#${count}`;
      keys.add(key);
      return !this.#keys.has(key);
    });
    this.#keys = keys;
    return fresh;
  }
}
