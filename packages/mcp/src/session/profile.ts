/** A profile is data: the tools, resources and prompts that this server offers under one name. */
import type { McpServer, Resource } from "@modelcontextprotocol/server";
import type { FailureAdvice } from "../errors/failure-advice.js";
import type { Environment } from "../settings.js";
import type { Tool, Toolset } from "../tools/definition/tool.js";
import type { LocalOptions } from "./backend.js";
import type { Session, SessionContext } from "./session.js";

/** Adds one resource, resource template or prompt to the MCP server of a client with this session and profile. */
export type Registration = (server: McpServer, session: Session, profile: Profile) => void;

/** A part of the list of resources, for the client that asks. */
export type ResourceList = (context: SessionContext, signal: AbortSignal) => AsyncIterable<Resource>;

export interface Profile {
  /** The profile's name, as `--profile` takes it. */
  readonly name: string;
  /** Instructions for the model, sent when a client connects. */
  readonly instructions: string;
  /** The profile's tools, in the order in which clients list them. */
  readonly tools: readonly Tool[];
  /** What the model should do after a failure, in the names of these tools. */
  readonly advice: FailureAdvice;
  /** Toolsets that are offered only if the user asks for them. */
  readonly offByDefault?: readonly Toolset[];
  /**
   * The default transport (stdio or HTTP), read from environment variables of the MCP server that the profile replaces.
   */
  readonly transport?: (environment: Environment) => ProfileTransport;
  /** Whether to serve HTTP requests without `Mcp-Session-Id`, as the MCP server that the profile replaces does. */
  readonly sessionless?: true;
  /** Options of the local backend, read from environment variables of the MCP server that the profile replaces. */
  readonly local?: (environment: Environment) => LocalOptions;
  readonly resources?: readonly Registration[];
  /** The parts of the list of resources, which needs the registration `listing`. */
  readonly resourceLists?: readonly ResourceList[];
  readonly prompts?: readonly Registration[];
  /** Whether the profile's tools pass on the log messages of other MCP servers. */
  readonly relaysLogs?: true;
}

export interface ProfileTransport {
  readonly transport?: "stdio" | "http";
  readonly host?: string;
  readonly port?: number;
}
