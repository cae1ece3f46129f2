/** The answer of a tool call: the structured result, its text, and images and links. */
import type { CallToolResult } from "@modelcontextprotocol/server";

type Content = CallToolResult["content"][number];

export interface AnswerParts {
  /** The text of the answer. Default: made from the structured result. */
  readonly text?: string;
  /** Images and links that follow the text. */
  readonly attachments?: readonly Content[];
}

export class Answer<Structure extends Record<string, unknown> = Record<string, unknown>> {
  readonly text: string | undefined;
  readonly attachments: readonly Content[];

  constructor(
    readonly structure: Structure,
    { text, attachments = [] }: AnswerParts = {},
  ) {
    this.text = text;
    this.attachments = attachments;
  }
}
