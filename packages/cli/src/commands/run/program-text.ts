import { createReadStream } from "node:fs";
import { basename, extname } from "node:path";
import { addAbortSignal, type Readable } from "node:stream";
import { CommandError } from "../../errors/command-error.js";

/** A program to run: its text, and what its file says about it. */
export interface ProgramText {
  readonly text: string;
  readonly language: string;
  /** Name of its file, which its arguments begin with. */
  readonly name: string;
}

/** The languages by the ending of a file's name. */
const languages: Readonly<Record<string, string>> = {
  ".py": "python",
  ".js": "javascript",
  ".mjs": "javascript",
  ".cjs": "javascript",
  ".ts": "typescript",
  ".mts": "typescript",
  ".cts": "typescript",
  ".sh": "bash",
  ".bash": "bash",
  ".go": "go",
};

/** The languages by the interpreter that a program's first line names. */
const interpreters: Readonly<Record<string, string>> = {
  python: "python",
  node: "javascript",
  nodejs: "javascript",
  "ts-node": "typescript",
  tsx: "typescript",
  bash: "bash",
  sh: "bash",
  dash: "bash",
};

/** Names of a program that was given without a file. */
const names: Readonly<Record<string, string>> = {
  python: "main.py",
  javascript: "main.js",
  typescript: "main.ts",
  bash: "main.sh",
  go: "main.go",
};

/** The most bytes of a program: a request to run it may have no more. */
const largest = 32 * 1024 * 1024;

/** Reads a program from `--code`, a file, or standard input. */
export async function programText(
  file: string | undefined,
  code: string | undefined,
  asked: string | undefined,
  signal: AbortSignal,
): Promise<ProgramText> {
  const path = file === "-" ? undefined : file;
  // Read the file first: a program's text in place of its path has no language that its name could tell.
  const text = code ?? (path === undefined ? await fromInput(signal) : await fromFile(path, signal));
  const language = asked ?? languageOf(path, text);
  const name = path === undefined ? (names[language] ?? "main") : basename(path);
  if (language !== "typescript") return { text, language, name };
  const { javaScriptOf } = await import("../typescript.js");
  return {
    text: javaScriptOf(text, name),
    language: "javascript",
    name: path === undefined ? "main.js" : name,
  };
}

/** The language of a program: by its file's ending, else by the interpreter that its first line names, else Python. */
function languageOf(file: string | undefined, text: string): string {
  const ending = extname(file ?? "").toLowerCase();
  if (ending === "") return languageOfInterpreter(text) ?? "python";
  const language = languages[ending];
  if (language !== undefined) return language;
  throw new CommandError(
    "LANGUAGE_UNKNOWN",
    `The language of a ${ending} file is not known.`,
    "Give it with --language.",
  );
}

function languageOfInterpreter(text: string): string | undefined {
  const [, command = ""] = /^#!\s*(.+)/.exec(text) ?? [];
  if (command === "") return undefined;
  const isOption = (word: string): boolean => word.startsWith("-") || word.includes("=");
  const names = command.split(/\s+/).map((word) => basename(word));
  const name = (names[0] === "env" ? names.slice(1).find((word) => !isOption(word)) : names[0]) ?? "";
  const language = interpreters[name.replace(/[\d.]+$/, "")];
  if (language !== undefined) return language;
  throw new CommandError(
    "LANGUAGE_UNKNOWN",
    `The program's first line asks for ${name}, which no language here is run by.`,
    "Give the language with --language.",
  );
}

async function fromFile(path: string, signal: AbortSignal): Promise<string> {
  try {
    return await decoded(addAbortSignal(signal, createReadStream(path)), path);
  } catch (error) {
    if (error instanceof CommandError || signal.aborted) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    const reasons: Readonly<Record<string, string>> = {
      ENOENT: path === "" ? "The path of the program is empty." : `${path} does not exist.`,
      EISDIR: `${path} is a directory.`,
      EACCES: `You may not read ${path}.`,
      ENAMETOOLONG: "The path of the program is too long to be one.",
    };
    throw new CommandError(
      "PROGRAM_UNREADABLE",
      reasons[code ?? ""] ?? message,
      "Give the path of a program, or its text with --code.",
    );
  }
}

async function fromInput(signal: AbortSignal): Promise<string> {
  if (process.stdin.isTTY)
    process.stderr.write("Type the program; end it with Ctrl-D on a line of its own.\n");
  return decoded(addAbortSignal(signal, process.stdin), "The program on standard input");
}

/**
 * The text of a program without its byte order mark, which editors on Windows write. Other encodings than UTF-8 are refused:
 * characters that cannot be decoded would silently be replaced.
 */
async function decoded(input: Readable, what: string): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of input) {
    chunks.push(chunk as Buffer);
    size += (chunk as Buffer).length;
    if (size > largest)
      throw new CommandError(
        "PROGRAM_TOO_LARGE",
        `${what} is larger than ${largest / 1024 / 1024} MiB.`,
        "Put its data into a file, and give the program its directory with --mount.",
      );
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw new CommandError("PROGRAM_UNREADABLE", `${what} is not UTF-8 text.`, "Save it as UTF-8.");
  }
}
