/** Asks the person at the client about hosts that programs in a sandbox want to reach. */

import type { Sandbox, SandboxClient } from "cloud-sandbox";
import type { SandboxDirectory } from "../../ownership/sandbox-directory.js";

/** Asks the person at the client, who chooses one of the keys of `choices`. Resolves with undefined if they do not choose. */
export type AskUser = (
  question: string,
  choices: Readonly<Record<string, string>>,
  signal: AbortSignal,
) => Promise<string | undefined>;

/** Milliseconds that a program waits for a decision. */
const heldMs = 60_000;

const choices = {
  once: "Yes, this time",
  always: "Yes, always",
  no: "No, not this time",
  never: "No, never",
} as const;

interface Asking {
  readonly askUser?: AskUser | undefined;
  readonly client: SandboxClient;
  readonly sandboxes: SandboxDirectory;
  readonly signal: AbortSignal;
}

/** Does the work of a call, and asks meanwhile about each host that programs wait for, if the sandbox was created so. */
export async function whileAsking<Result>(
  context: Asking,
  sandbox: Sandbox,
  work: () => Promise<Result>,
): Promise<Result> {
  const { askUser, sandboxes } = context;
  const last = sandboxes.asked.get(sandbox.id);
  if (askUser === undefined || last === undefined || !sandboxes.beginAsking(sandbox.id)) return work();
  const over = new AbortController();
  const signal = AbortSignal.any([context.signal, over.signal]);
  const asking = ask({ ...context, askUser, signal }, sandbox, last)
    // Without answers, programs are refused after a minute, which their errors say.
    .catch(() => undefined)
    .finally(() => sandboxes.endAsking(sandbox.id));
  try {
    return await work();
  } finally {
    over.abort();
    await asking;
  }
}

async function ask(
  { askUser, client, sandboxes, signal }: Asking & { readonly askUser: AskUser },
  sandbox: Sandbox,
  since: string,
): Promise<void> {
  const { id } = sandbox;
  for await (const event of client.events({ sandbox: id, types: ["egress.held"], since, signal })) {
    sandboxes.asked.set(id, event.id);
    const { at, host = "", port = 0 } = event;
    if (Date.now() - at.getTime() > heldMs) continue;
    const question = `A program in sandbox ${id} wants to connect to ${host}:${port}, which was not allowed before.`;
    const answer = (await askUser(question, choices, signal)) ?? "no";
    const decision = {
      allow: answer === "once" || answer === "always",
      always: answer === "always" || answer === "never",
    };
    // It may have stopped waiting.
    await sandbox.egress.decide({ host, port, ...decision }, { signal }).catch(() => undefined);
  }
}
