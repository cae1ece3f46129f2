/** What the servers of one client need of those of all clients. */
import type { Tool } from "@modelcontextprotocol/server";
import type { SandboxClient } from "cloud-sandbox";
import type { McpServerConfiguration } from "cloud-sandbox-mcp-runner/configuration";
import type { SandboxLedger } from "../ownership/sandbox-ledger.js";
import type { Environment } from "../settings/environment.js";
import type { RunningServer, ServerCall, ServerEvents } from "./running-server.js";
import type { ServerSlot } from "./server-slot.js";

/** Where servers run. */
export interface ServerPlace {
  readonly client: SandboxClient;
  readonly ledger: SandboxLedger;
}

export type StartServer = (
  configuration: McpServerConfiguration,
  place: ServerPlace,
  events: ServerEvents,
) => Promise<RunningServer>;

/** The servers of a client, as far as their tools are asked for. */
export interface ToolSource {
  tools(server: string, call: ServerCall): Promise<Tool[]>;
}

export interface ServerRegistry {
  /** The servers that may be used, in the order in which they are listed. */
  readonly configurations: readonly McpServerConfiguration[];
  readonly environment: Environment;
  readonly start: StartServer;
  /** Counts a server, for which another may have to end: the one that was not used for longest. */
  add(slot: ServerSlot): void;
  delete(slot: ServerSlot): void;
  /** Called when a server says that its tools are others now. */
  toolsChanged(server: string, source: ToolSource): void;
}
