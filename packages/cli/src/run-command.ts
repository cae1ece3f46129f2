import { readFile } from "node:fs/promises";
import { extname } from "node:path";
import { text } from "node:stream/consumers";
import { openBackend } from "./backend.js";

export interface RunOptions {
  readonly code?: string;
  readonly language?: string;
  readonly timeout: number;
  readonly template: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Runs a program in a sandbox of its own, prints what it prints, and resolves with its exit code. */
export async function runCommand(
  file: string | undefined,
  options: RunOptions,
  signal: AbortSignal,
): Promise<number> {
  const code = options.code ?? (await readProgram(file));
  const backend = await openBackend();
  try {
    const { stdout, stderr, exitCode, terminationReason } = await backend.client.executeIsolated(code, {
      language: options.language ?? languageOf(file),
      timeout: options.timeout,
      template: options.template,
      env: options.env,
      signal,
    });
    process.stdout.write(stdout);
    process.stderr.write(stderr);
    if (terminationReason === "timeout") {
      process.stderr.write(
        `cloud-sandbox: stopped after ${options.timeout} s; give it longer with --timeout.\n`,
      );
    }
    return exitCode;
  } finally {
    await backend.close();
  }
}

function readProgram(file: string | undefined): Promise<string> {
  return file === undefined || file === "-" ? text(process.stdin) : readFile(file, "utf8");
}

const languages: Readonly<Record<string, string>> = {
  ".py": "python",
  ".js": "javascript",
  ".mjs": "javascript",
  ".cjs": "javascript",
  ".sh": "bash",
  ".go": "go",
};

function languageOf(file: string | undefined): string {
  return languages[extname(file ?? "")] ?? "python";
}
