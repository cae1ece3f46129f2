import { spawn } from "node:child_process";
import { once } from "node:events";
import { run } from "../isolated.mjs";

/** Runs every program as a new process. `commandOf` makes its command from the code. */
export function eachInCommand(commandOf, programs) {
  return {
    run: async (program) => (await run(commandOf(programs[program]))).trim(),
    hold: () => startWaiting(commandOf(programs.wait)),
  };
}

/** Starts a program that waits. Resolves when it runs, with a function that ends it. */
async function startWaiting([program, ...args]) {
  const child = spawn(program, args, { cwd: "/", stdio: ["pipe", "pipe", "inherit"] });
  const closed = once(child, "close");
  await Promise.race([
    once(child.stdout, "data"),
    closed.then(([code]) => {
      throw new Error(`${program} ended with ${code}`);
    }),
  ]);
  return async () => {
    child.stdin.end();
    await closed;
  };
}
