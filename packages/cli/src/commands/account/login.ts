import { createInterface } from "node:readline/promises";
import { addAbortSignal, Writable } from "node:stream";
import { SandboxClient } from "cloud-sandbox";
import type { Command } from "commander";
import { action, type Call } from "../../command-line/action.js";
import { cloudUrl } from "../../connection/account.js";
import { loginPath, writeLogin } from "../../connection/login-file.js";
import { CommandError } from "../../errors/command-error.js";

/** Longer than any key. */
const longestKey = 64 * 1024;

export function define(command: Command): void {
  command
    .addHelpText(
      "after",
      `
The key is asked for, or read from standard input: cloud-sandbox login < key.txt
It is checked with the server, and stored in a file that only you can read.`,
    )
    .action(action(login));
}

async function login({ options, output, signal }: Call<object>): Promise<void> {
  const url = options.url ?? (process.env.CLOUD_SANDBOX_BASE_URL || process.env.HOPX_BASE_URL || cloudUrl);
  const apiKey = (process.stdin.isTTY ? await typedKey(url, signal) : await pipedKey(signal)).trim();
  if (apiKey === "")
    throw new CommandError(
      "API_KEY_MISSING",
      "The input has no key.",
      "Type the key, or give a file with it.",
    );
  const client = new SandboxClient({ apiKey, baseUrl: url, deleteOnSignal: false });
  try {
    for await (const _ of client.sandboxes.list({ limit: 1, signal })) break;
  } finally {
    await client.close();
  }
  await writeLogin({ url, apiKey });
  output.done(`Logged in to ${url}. The key is stored in ${loginPath()}.`, { url, path: loginPath() });
}

async function typedKey(url: string, signal: AbortSignal): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  process.stderr.write(`API key for ${url}: `);
  const reader = createInterface({ input: process.stdin, output: silent, terminal: true });
  // Send SIGINT here, because the terminal does not do so in raw mode.
  reader.once("SIGINT", () => process.kill(process.pid, "SIGINT"));
  try {
    return await reader.question("", { signal });
  } finally {
    reader.close();
    process.stderr.write("\n");
  }
}

async function pipedKey(signal: AbortSignal): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of addAbortSignal(signal, process.stdin)) {
    chunks.push(chunk as Buffer);
    length += (chunk as Buffer).length;
    if (length > longestKey)
      throw new CommandError("API_KEY_INVALID", "The input is too long for a key.", "Give only the key.");
  }
  return Buffer.concat(chunks).toString("utf8");
}
