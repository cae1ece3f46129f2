import { advice } from "./advice.js";
import { CommandError } from "./command-error.js";

/** A failure as it is shown to people, or printed with `--json`. */
export interface Problem {
  /** Stable code in UPPER_SNAKE_CASE. */
  readonly code: string;
  /** What happened, in one sentence. */
  readonly message: string;
  /** What to do next. */
  readonly hint?: string;
  /** The server's id of the request that failed. */
  readonly requestId?: string;
  /** What a tool of an MCP server that failed has returned. */
  readonly result?: unknown;
  /** What a backend on this machine has logged about the request. */
  readonly log?: readonly string[];
}

/**
 * Fields by which errors of the client and of commander are recognised. Importing their classes would load the client.
 */
interface FailureFields extends NodeJS.ErrnoException {
  readonly summary?: string;
  readonly hint?: string;
  readonly serverHint?: string;
  readonly requestId?: string;
  readonly status?: number;
  readonly result?: unknown;
}

/** The problem of a command whose output could not be written. */
export function lostOutput(reason: string): Problem {
  return { code: "OUTPUT_LOST", message: `The output could not be written: ${reason}` };
}

/** The problem of a program's output of which the server could not keep all. */
export function lostBytes(count: number): Problem {
  return {
    code: "OUTPUT_LOST",
    message: `${count} bytes of the program's output were lost, because the sandbox could not keep them.`,
    hint: 'Write the output to a file in the sandbox, and copy that with "cloud-sandbox cp".',
  };
}

/** Explains a failure. `usage` is the hint if the command line could not be parsed. */
export function explain(error: unknown, usage?: string): Problem {
  if (!(error instanceof Error)) return { code: "FAILED", message: String(error) };
  const { code, hint, requestId, result, serverHint, status, summary } = error as FailureFields;
  if (error instanceof CommandError)
    return {
      code: error.code,
      message: error.summary,
      ...(error.hint !== undefined && { hint: error.hint }),
    };
  if (code?.startsWith("commander.")) return usageProblem(code, error.message, usage);
  if (summary !== undefined && code !== undefined) {
    const next = hintFor({ code, name: error.name, summary }, hint, serverHint);
    return {
      code,
      message: summary.trim(),
      ...(next !== undefined && { hint: next }),
      ...(requestId !== undefined && status !== undefined && { requestId }),
      ...(result !== undefined && { result }),
    };
  }
  return { code: code ?? "FAILED", message: error.message };
}

/** A failure in one line, for people. */
export function sentence({ code, hint, message, requestId }: Problem): string {
  const isOperators = requestId !== undefined && /^(INTERNAL|HTTP_5|SERVICE_)/.test(code);
  const named = isOperators ? `${message.replace(/[.\s]+$/, "")} (request ${requestId}).` : message;
  return hint === undefined ? named : `${named}${/[.!?:;…]$/.test(named) ? "" : "."} ${hint}`;
}

function usageProblem(code: string, message: string, hint: string | undefined): Problem {
  // Commander's own suggestion follows on a line of its own.
  const [first = ""] = message.replace(/^error: /, "").split("\n");
  return {
    code: code === "commander.unknownCommand" ? "UNKNOWN_COMMAND" : "USAGE",
    message: `${first.charAt(0).toUpperCase()}${first.slice(1)}${/[.!?]$/.test(first) ? "" : "."}`,
    ...(hint !== undefined && { hint }),
  };
}

/** The first advice that can be followed in a terminal: advice of the client may name its methods and options. */
function hintFor(
  { code, name, summary }: { code: string; name: string; summary: string },
  hint: string | undefined,
  serverHint: string | undefined,
): string | undefined {
  if (withoutInternet.test(summary)) return "Give it internet access with --internet on.";
  const ours = advice[code] ?? (name === "AuthenticationError" ? advice[name] : undefined);
  if (ours !== undefined) return ours;
  for (const theirs of [hint, serverHint])
    if (theirs !== undefined && !ofTheLibrary.test(theirs.replace(methodOfMcp, ""))) return theirs;
  return advice[name];
}

/** What a sandbox without internet access answers to its programs, which print it. */
const withoutInternet = /sandbox has no internet access/;
/** Matches methods of the protocol MCP, as in `sampling/createMessage`. */
const methodOfMcp = /\b(sampling|elicitation|roots)\/\w+/g;
/** Matches methods and properties, as in `list()` or `error.output`, and names of options, as in `timeoutSeconds`. */
const ofTheLibrary = /\w\(|\b(client|error)\.\w|\b[a-z]+[A-Z]\w*\b|\boption\b/;
