/** Answers of servers that know nothing but text: it is the structure too, under the name that their framework gives it. */
import * as z from "zod";
import { Answer } from "./answer.js";

export const textOutput = z.looseObject({ result: z.string() });

export function textAnswer(result: string): Answer<{ result: string }> {
  return new Answer({ result }, { text: result });
}

/** Where that text is JSON, clients that know structures get it as one. */
export function jsonAnswer<Structure extends Record<string, unknown>>(
  structure: Structure,
): Answer<Structure> {
  return new Answer(structure, { text: JSON.stringify(structure, null, 2) });
}
