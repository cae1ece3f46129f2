import { createInterface } from "node:readline";
import type { Command } from "commander";
import { action } from "../command-line/action.js";
import { withRunner } from "./runner.js";
import { storedServer } from "./server-store.js";

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
          try {
            const ended = new Promise<void>((resolve) => {
              transport.onclose = resolve;
              signal.addEventListener("abort", () => resolve(), { once: true });
            });
            transport.onerror = (error) => output.note(error.message);
            transport.onmessage = (message: unknown) => output.json(message);
            await transport.start();
            const input = createInterface({ input: process.stdin });
            input.on("line", (line) => {
              if (line.trim() === "") return;
              try {
                const sent = transport.send(JSON.parse(line));
                sent.catch((error: Error) => output.note(error.message));
              } catch {
                output.note("a line of standard input is not JSON and was ignored.");
              }
            });
            // The assistant closes standard input when it has finished.
            input.once("close", () => void transport.close());
            await ended;
            input.close();
            process.stdin.destroy();
            if (transport.failure !== undefined && !signal.aborted) throw transport.failure;
          } finally {
            await sandbox.delete();
          }
        });
      }),
    );
}
