import { transform } from "sucrase";
import { CommandError } from "../errors/command-error.js";

/**
 * Converts a TypeScript program to JavaScript, line by line, without checking its types. Node.js does so itself only since 22.6, and
 * sandboxes may have an earlier one.
 */
export function javaScriptOf(text: string, path: string): string {
  try {
    return transform(text, { transforms: ["typescript"], disableESTransforms: true }).code;
  } catch (error) {
    throw new CommandError(
      "PROGRAM_INVALID",
      `${path} is no valid TypeScript: ${(error as Error).message}.`,
      "Correct the program.",
    );
  }
}
