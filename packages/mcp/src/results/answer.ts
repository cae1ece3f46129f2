/** What a tool answers: its structure, which is shown as text too, and what is no text. */
import type { CallToolResult } from "@modelcontextprotocol/server";

type Content = CallToolResult["content"][number];

export interface AnswerParts {
  /** Shown in place of the structure's facts. */
  readonly text?: string;
  /** Images and links, beside the text. */
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
