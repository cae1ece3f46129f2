/**
 * The description of a tool that clients get when they list tools. Plain JSON, because the build writes it into the
 * bundle.
 */

import { portableSchema } from "./portable-schema.js";
import type { Annotations, Tool, Toolset } from "./tool.js";

export interface ListedTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly toolset: Toolset;
  readonly annotations: Annotations;
  readonly inputSchema: Record<string, unknown>;
  /** Absent if the result is that of another MCP server's tool. */
  readonly outputSchema?: Record<string, unknown>;
}

export function listedTool({
  name,
  title,
  description,
  toolset,
  annotations,
  input,
  output,
}: Tool): ListedTool {
  const inputSchema = portableSchema(input, "input");
  const listed = { name, title, description, toolset, annotations, inputSchema };
  return output === undefined ? listed : { ...listed, outputSchema: portableSchema(output, "output") };
}
