import { readFile } from "node:fs/promises";
import { extname } from "node:path";
import { addAbortSignal } from "node:stream";
import { SandboxClient } from "cloud-sandbox";

export interface RunOptions {
  readonly code?: string;
  readonly language?: string;
  readonly timeout: number;
  readonly template: string;
  readonly internet?: boolean;
  readonly env: Readonly<Record<string, string>>;
}

/** Runs a program in a sandbox of its own, prints what it prints, and resolves with its exit code. */
export async function runCommand(
  file: string | undefined,
  options: RunOptions,
  signal: AbortSignal,
): Promise<number> {
  const code = options.code ?? (await readProgram(file, signal));
  const language = options.language ?? languageOf(file);
  // Do not install signal handlers (this command has its own), and boot no spare sandboxes (this command needs only
  // one).
  const client = new SandboxClient({ deleteOnSignal: false, local: { pool: 0 } });
  try {
    const { stdout, stderr, exitCode, terminationReason, output } = await client.executeIsolated(code, {
      language,
      timeoutSeconds: options.timeout,
      template: options.template,
      env: options.env,
      internetAccess: options.internet,
      signal,
    });
    process.stdout.write(stdout);
    process.stderr.write(stderr);
    if (terminationReason === "timeout") {
      process.stderr.write(
        `cloud-sandbox: the program was stopped after ${options.timeout} s; --timeout gives it more time.\n`,
      );
    }
    for (const [name, { truncated, bytes }] of Object.entries(output)) {
      if (truncated)
        process.stderr.write(
          `cloud-sandbox: the middle of ${name} was left out; the program wrote ${bytes} bytes.\n`,
        );
    }
    return exitCode;
  } finally {
    await client.close();
  }
}

async function readProgram(file: string | undefined, signal: AbortSignal): Promise<string> {
  if (file !== undefined && file !== "-") return readFile(file, "utf8");
  const chunks: Buffer[] = [];
  for await (const chunk of addAbortSignal(signal, process.stdin)) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
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
  const ending = extname(file ?? "");
  if (ending === "") return "python";
  const language = languages[ending];
  if (language === undefined)
    throw new Error(`The language of a ${ending} file is not known: give it with --language.`);
  return language;
}
