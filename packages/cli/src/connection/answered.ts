import { advice } from "../errors/advice.js";
import { CommandError } from "../errors/command-error.js";

/** An answer of a call of the low-level client. */
interface Answer<Body> {
  readonly data?: Body;
  readonly error?: unknown;
  readonly response: { readonly status: number };
}

/** Resolves with the body of a successful answer. Throws the server's error for a refusal. */
export function answered<Body>({ data, error, response }: Answer<Body>): Body {
  if (data !== undefined) return data;
  const { code, hint, message } = Object(error) as Record<string, unknown>;
  if (typeof message !== "string")
    throw new CommandError(
      "SERVER_FAILED",
      `The server answered ${response.status} without saying why.`,
      "Try again; if it keeps failing, look at the server's log.",
    );
  const serverHint = typeof hint === "string" ? hint : undefined;
  // The message ends with the hint: docs/decisions/0034-the-hint-of-an-error.md.
  const hasBoth = serverHint !== undefined && message.endsWith(` ${serverHint}`);
  const summary = hasBoth ? message.slice(0, -serverHint.length - 1) : message;
  const known = typeof code === "string" ? code : `HTTP_${response.status}`;
  throw new CommandError(known, summary, advice[known] ?? serverHint);
}
