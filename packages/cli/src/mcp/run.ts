import { createInterface } from "node:readline";
import type { Command } from "commander";
import { action } from "../command-line/action.js";
import { followed } from "../connection/followed.js";
import { CommandError } from "../errors/command-error.js";
import { OpenRequests } from "./open-requests.js";
import { withRunner } from "./runner.js";
import { storedServer } from "./server-store.js";

/** Milliseconds that a server may take to answer after standard input has ended. Many servers take seconds to start. */
const lastAnswersMs = 60_000;

/**
 * `mcp run`: runs a server in a sandbox, and connects it with this process's standard input and output. Assistants
 * start this command in place of the server.
 */
export function define(command: Command): void {
  command
    .description("run a server in a sandbox, over standard input and output, for an assistant")
    .argument("<name>")
    .action(
      action<object, [string]>(async (call, name) => {
        const { output, signal } = call;
        const server = await storedServer(name);
        await withRunner(call, server, async (runner) => {
          const { sandbox, transport } = await runner.createTransport(name, { signal });
          const relay = async (): Promise<void> => {
            const ended = new Promise<void>((resolve) => {
              transport.onclose = resolve;
              signal.addEventListener("abort", () => resolve(), { once: true });
            });
            const requests = new OpenRequests();
            const answer = (id: unknown, code: number, message: string): void =>
              output.json({ jsonrpc: "2.0", id, error: { code, message } });
            transport.onerror = (error) => {
              if (error !== transport.failure) output.note(error.message);
            };
            let isUnread = false;
            transport.onmessage = (message: unknown) => {
              if (isUnread) return;
              output.json(message);
              isUnread = process.stdout.writableLength > mostUnread;
              if (isUnread) transport.close().catch(() => undefined);
              requests.received(message);
            };
            await transport.start();
            const input = createInterface({ input: process.stdin });
            input.on("line", (line) => {
              if (line.trim() === "") return;
              const message = parsed(line);
              if (message === undefined) {
                output.note("a line of standard input is not JSON.");
                return answer(null, -32_700, "Parse error: this is not JSON");
              }
              requests.sent(message);
              transport.send(message).catch((error: Error) => {
                // What ends the server is told, and its requests are answered, when this command ends.
                if (error === transport.failure) return;
                output.note(error.message);
                if (requests.lost(message)) answer(message.id, -32_603, error.message);
              });
            });
            // The assistant closes standard input when it has finished.
            input.once("close", () => void requests.answered(lastAnswersMs).then(() => transport.close()));
            await ended;
            input.close();
            process.stdin.destroy();
            if (signal.aborted) return;
            if (isUnread) throw notRead();
            const { failure } = transport;
            if (failure !== undefined) {
              // Assistants show this, and not standard error.
              for (const id of requests.takeAll()) answer(id, -32_603, failure.summary);
              throw failure;
            }
            if (requests.size > 0) throw notAnswered();
          };
          await followed(relay, () => sandbox.delete());
        });
      }),
    );
}

// biome-ignore lint/suspicious/noExplicitAny: the server reads the message, which is passed on as it is
function parsed(line: string): any {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** Bytes of messages that may wait for the assistant to read them. */
const mostUnread = 64 * 1024 * 1024;

const notRead = (): CommandError =>
  new CommandError(
    "NOT_READ",
    `The assistant did not read ${mostUnread / 1024 / 1024} MiB of the server's messages, so the server was ended.`,
    "Start the server again.",
  );

const notAnswered = (): CommandError =>
  new CommandError(
    "NOT_ANSWERED",
    `The server did not answer all requests within ${lastAnswersMs / 1000} s after standard input had ended.`,
    "Keep standard input open until the answers have come.",
  );
