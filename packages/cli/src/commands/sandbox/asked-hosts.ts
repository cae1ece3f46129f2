import { createInterface } from "node:readline/promises";
import { isSandboxError, type SandboxClient } from "cloud-sandbox";
import { CommandError } from "../../errors/command-error.js";
import type { Output } from "../../output/output.js";
import { printable } from "../../output/printable.js";

const answers: Readonly<Record<string, { readonly allow: boolean; readonly always: boolean }>> = {
  y: { allow: true, always: false },
  a: { allow: true, always: true },
  n: { allow: false, always: false },
  v: { allow: false, always: true },
};

/** Asks on the terminal about each host that programs of a sandbox wait for, until the command is interrupted. */
export async function askAboutHosts(
  client: SandboxClient,
  id: string,
  output: Output,
  signal: AbortSignal,
): Promise<void> {
  if (!process.stdin.isTTY)
    throw new CommandError(
      "NO_TERMINAL",
      "There is no terminal to ask on.",
      'Read "cloud-sandbox events --type egress.held --json" instead, and decide by the client.',
    );
  const { egress } = await client.sandboxes.get(id, { signal });
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    output.note("waiting for hosts that no list names; Ctrl-C ends.");
    for await (const { host = "", port = 0 } of client.events({
      sandbox: id,
      types: ["egress.held"],
      signal,
    })) {
      const question = `${printable(host)}:${port}? [y]es, [a]lways, [n]o, ne[v]er: `;
      const word = (await terminal.question(question, { signal })).trim().toLowerCase();
      const decision = answers[word.slice(0, 1)] ?? { allow: false, always: false };
      await egress.decide({ host, port, ...decision }, { signal }).catch((error: unknown) => {
        if (!isSandboxError(error) || error.code !== "CONFLICT") throw error;
        output.note("no program waits for it any more.");
      });
    }
  } finally {
    terminal.close();
  }
}
