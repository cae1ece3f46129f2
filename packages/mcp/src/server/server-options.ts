/** What the server was asked for, on the command line and in the environment. */
import type { Profile } from "../session/profile.js";
import type { ToolSelection } from "./tool-selection.js";

export interface ServerOptions extends ToolSelection {
  readonly profile: Profile;
  readonly transport: "stdio" | "http";
  readonly host: string;
  readonly port: number;
  readonly socket?: string;
  /** What clients must send; false where nothing is asked for. */
  readonly token?: string | false;
  readonly allowedHost: readonly string[];
  readonly allowedOrigin: readonly string[];
  readonly maxClients: number;
  readonly idleTimeout: number;
  readonly keepSandboxes: boolean;
}

/** What holds where nothing is asked for. */
export const standardOptions = {
  transport: "stdio",
  host: "127.0.0.1",
  port: 8000,
  allowedHost: [],
  allowedOrigin: [],
  maxClients: 200,
  idleTimeout: 1800,
  keepSandboxes: false,
  readOnly: false,
} as const satisfies Omit<ServerOptions, "profile">;

/** `CLOUD_SANDBOX_MCP_READ_ONLY` is `--read-only`, and so on. */
export const prefix = "CLOUD_SANDBOX_MCP_";
