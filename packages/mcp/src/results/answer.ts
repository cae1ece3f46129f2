/** The answer of a tool call: the structured result, its text, and images and links. */
import type { CallToolResult } from "@modelcontextprotocol/server";

type Content = CallToolResult["content"][number];

export interface AnswerParts {
  /** The text of the answer. Default: made from the structured result. */
  readonly text?: string;
  /** Images and links that follow the text. */
  readonly attachments?: readonly Content[];
  /** The complete result of another MCP server's tool, which is sent in place of all other fields. */
  readonly whole?: CallToolResult;
}

export class Answer<Structure extends Record<string, unknown> = Record<string, unknown>> {
  readonly text: string | undefined;
  readonly attachments: readonly Content[];
  readonly whole: CallToolResult | undefined;

  constructor(
    readonly structure: Structure,
    { text, attachments = [], whole }: AnswerParts = {},
  ) {
    this.text = text;
    this.attachments = attachments;
    this.whole = whole;
  }
}
