/** A profile is data: the tools, resources and prompts that this server offers under one name. */
import type { McpServer } from "@modelcontextprotocol/server";
import type { FailureAdvice } from "../errors/failure-advice.js";
import type { Environment } from "../settings/environment.js";
import type { ListedTool } from "../tools/definition/listed-tool.js";
import type { Tool, Toolset } from "../tools/definition/tool.js";
import type { LocalOptions } from "./backend.js";
import type { Session } from "./session.js";

/** Adds one resource, resource template or prompt to a server whose client has this session, and is offered this profile. */
export type Registration = (server: McpServer, session: Session, profile: Profile) => void;

export interface Profile {
  /** As it is given to `--profile`. */
  readonly name: string;
  /** What a model reads first of all. */
  readonly instructions: string;
  /** In the order in which they are listed. */
  readonly tools: readonly ListedTool[];
  /** Loads what the tools do, which no client needs before its first call. */
  readonly load: () => Promise<{ readonly tools: readonly Tool[] }>;
  /** Which step comes after a failure, in the terms of these tools. */
  readonly advice: FailureAdvice;
  /** Toolsets that are there only when they are asked for. */
  readonly offByDefault?: readonly Toolset[];
  /** How the server that it replaces is reached where nothing else is said, from variables of that server's own. */
  readonly transport?: (environment: Environment) => ProfileTransport;
  /** Whether requests of the era with sessions are served without one over HTTP, as the server that it replaces does. */
  readonly sessionless?: true;
  /** How this machine makes the sandboxes, where it is this machine that does, from such variables too. */
  readonly local?: (environment: Environment) => LocalOptions;
  readonly resources?: readonly Registration[];
  readonly prompts?: readonly Registration[];
}

export interface ProfileTransport {
  readonly transport?: "stdio" | "http";
  readonly host?: string;
  readonly port?: number;
}
