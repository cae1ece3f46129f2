import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

/**
 * Runs a program in a new Node.js process, where nothing is loaded or compiled yet, and parses the JSON that it prints.
 */
export async function inFreshProcess(args) {
  const { stdout } = await run(process.execPath, args);
  return JSON.parse(stdout);
}
