import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { AgentCalls } from "../../src/agents/agent-calls.js";
import { AgentConnections } from "../../src/agents/agent-connection.js";
import type { Machine } from "../../src/runtime/sandbox-runtime.js";
import { BuildMachine } from "../../src/templates/build-machine.js";
import { TokenIssuer } from "../../src/tokens/token-issuer.js";

const started = { process_id: "proc_1" };
const piece = { stdout: "", stdout_offset: 0, stderr: "", stderr_offset: 0, complete: false };

/**
 * A machine whose agent answers at once: with the first answer to the first request, and so on. The last answer is
 * repeated.
 */
async function machineOf(...answers: readonly unknown[]) {
  const directory = await mkdtemp(join(tmpdir(), "build-test-"));
  const socketPath = join(directory, "agent.sock");
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    const answer = answers[Math.min(asked.length, answers.length) - 1];
    response.end(typeof answer === "string" ? answer : JSON.stringify(answer));
  }).listen(socketPath);
  await once(server, "listening");
  const nothing = async (): Promise<void> => undefined;
  const machine: Machine = {
    ...{
      id: "build",
      isolation: "namespace",
      agentAddress: { path: socketPath },
      isPaused: false,
    },
    ...{ exited: new Promise(() => undefined), isAgentStopped: async () => false },
    ...{ pause: nothing, resume: nothing, restartAgent: nothing, keep: nothing, destroy: nothing },
  };
  const calls = new AgentCalls(await TokenIssuer.create(), new AgentConnections(() => undefined));
  let printed = "";
  const inside = new BuildMachine(
    calls,
    machine,
    (text) => {
      printed += text;
    },
    new AbortController().signal,
  );
  return {
    asked,
    printed: () => printed,
    run: () =>
      inside.perform({ kind: "run", command: "true", skipCache: false }, 0, {
        environment: {},
        workdir: "/",
      }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(directory, { recursive: true });
    },
  };
}

test("a build asks less and less often about a step whose agent answers at once that it is still running", async () => {
  const going = Array.from({ length: 7 }, (_, at) => ({ ...piece, stdout: "x", stdout_offset: at + 1 }));
  await using machine = await machineOf(started, ...going, { ...piece, complete: true, exit_code: 0 });
  const began = performance.now();
  await machine.run();
  // The pause is 20 ms at first and doubles each time.
  expect(performance.now() - began).toBeGreaterThan(20 * (2 ** 7 - 1) * 0.9);
  expect(machine.asked).toHaveLength(9);
  expect(machine.printed()).toBe("x".repeat(7));
});

test.each([
  ["that name no process", [{}]],
  ["without an output", [started, { complete: false }]],
  ["with an offset that is none", [started, { ...piece, stdout_offset: "0&wait=0" }]],
  ["that are no JSON", [started, "<html>"]],
  ["of too many values", [started, `{"rich_outputs":[${"{},".repeat(300_000)}{}]}`]],
  ["that are too long", [started, { ...piece, stdout: "x".repeat(5 * 1024 * 1024) }]],
])("a build step ends with an error if its agent answers %s", async (_, answers) => {
  await using machine = await machineOf(...answers);
  await expect(machine.run()).rejects.toThrow(/agent/);
});
