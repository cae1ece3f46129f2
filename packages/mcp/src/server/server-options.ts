/** The options of the command line and of the environment. */
import type { Profile } from "../session/profile.js";
import type { ToolSelection } from "./tool-selection.js";

export interface ServerOptions extends ToolSelection {
  readonly profile: Profile;
  readonly transport: "stdio" | "http";
  readonly host: string;
  readonly port: number;
  readonly socket?: string;
  /** Tokens, one of which each client must send. With false, clients need no token. */
  readonly token?: string | false;
  /** Whether each client sends an API key of its own as its token. */
  readonly clientKeys: boolean;
  readonly allowedHost: readonly string[];
  readonly allowedOrigin: readonly string[];
  readonly maxClients: number;
  readonly idleTimeout: number;
  readonly keepSandboxes: boolean;
  /** Whether changes are applied to directories without asking the user. */
  readonly applyWithoutAsking: boolean;
  /** Other people's MCP servers that are called through the three tools for them. */
  readonly mcpGateway: readonly string[];
  /** Other people's MCP servers whose tools are listed beside this server's. */
  readonly mcpServer: readonly string[];
  /** A file with MCP servers, or its text, in addition to the user's file. */
  readonly mcpConfig?: string;
}

/** Prefix of the environment variables: `CLOUD_SANDBOX_MCP_READ_ONLY` is `--read-only`, and so on. */
export const prefix = "CLOUD_SANDBOX_MCP_";
