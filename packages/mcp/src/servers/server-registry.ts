/** The part of the registry of all clients' servers that the servers of one client use. */
import type { Tool } from "@modelcontextprotocol/server";
import type { SandboxClient } from "cloud-sandbox";
import type { McpServerConfiguration } from "cloud-sandbox-mcp-runner/configuration";
import type { SandboxLedger } from "../ownership/sandbox-ledger.js";
import type { Environment } from "../settings.js";
import type { OtherLists, RunningServer, ServerCall, ServerEvents } from "./running-server.js";
import type { ServerSlot } from "./server-slot.js";

/** The client whose sandboxes the servers run in. */
export interface ServerOwner {
  readonly client: SandboxClient;
  readonly ledger: SandboxLedger;
}

export type StartServer = (
  configuration: McpServerConfiguration,
  owner: ServerOwner,
  events: ServerEvents,
) => Promise<RunningServer>;

/** Lists what a client's servers have. */
export interface ListSource {
  tools(server: string, call: ServerCall): Promise<Tool[]>;
  /** What a server lists beside its tools. */
  others(server: string, call: ServerCall): Promise<OtherLists>;
}

export interface ServerRegistry {
  /** The servers that may be used, in the order in which they are listed. */
  readonly configurations: readonly McpServerConfiguration[];
  readonly environment: Environment;
  readonly start: StartServer;
  /** Adds a server. If there are too many, ends the idle one that was unused for longest. */
  add(slot: ServerSlot): void;
  delete(slot: ServerSlot): void;
  /** Called when a server reports that its tools, prompts or resources have changed. */
  listsChanged(server: string, source: ListSource): void;
}
