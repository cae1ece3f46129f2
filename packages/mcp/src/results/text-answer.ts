/** Answers in the form of MCP servers that return only text: the structured result has the text as `result`. */
import * as z from "zod";
import { Answer } from "./answer.js";

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
