/** The answer of a tool call: the structured result, its text, and images and links. */

import type { CallToolResult } from "@modelcontextprotocol/server";
import * as z from "zod";

type Content = CallToolResult["content"][number];

interface AnswerParts {
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

/** Answers in the form of MCP servers that return only text: the structured result has the text as `result`. */
export const textOutput = z.looseObject({ result: z.string() });

export function textAnswer(result: string): Answer<{ result: string }> {
  return new Answer({ result }, { text: result });
}

/** An answer whose text is JSON: the structured result is the same JSON. */
export function jsonAnswer<Structure extends Record<string, unknown>>(
  structure: Structure,
): Answer<Structure> {
  return new Answer(structure, { text: JSON.stringify(structure, null, 2) });
}

/** Formats a structured result as text that is short and easy to read. */
export function compactText(result: Readonly<Record<string, unknown>>): string {
  return Object.entries(result)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => line(name, value))
    .join("\n");
}

function line(name: string, value: unknown): string {
  if (Array.isArray(value) && value.length > 0)
    return [`${name}:`, ...value.map((item) => plain(item))].join("\n");
  const text = plain(value);
  return text.includes("\n") ? `${name}:\n${text.replace(/\n$/, "")}` : `${name}: ${text}`;
}

function plain(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

/**
 * Marks results whose content anybody may have written. The protocol has no field for that yet (SEP-1913): clients see the
 * `openWorldHint` of tools, and this mark on each result is for hosts that look for it.
 */
export const untrusted = { _meta: { "io.github.cloud-sandbox/untrusted-content": true } } as const;

/** The mark of a tool's results, or nothing. */
export function originOf({
  openWorldHint,
}: {
  readonly openWorldHint?: boolean | undefined;
}): Partial<typeof untrusted> {
  return openWorldHint === true ? untrusted : {};
}

/**
 * The client's records under the wire's names, which these tools promise: `memoryMb` is `memory_mb`, a date is text,
 * and what is not known is left out.
 */
export function wireNames(record: object): Record<string, unknown> {
  const named = Object.entries(record).map(([name, value]) => [snakeCase(name), wireValue(value)] as const);
  return Object.fromEntries(named.filter(([, value]) => value !== undefined && value !== null));
}

function wireValue(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(wireValue);
  if (typeof value !== "object" || value === null) return value;
  const named = wireNames(value);
  return Object.keys(named).length === 0 ? undefined : named;
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
