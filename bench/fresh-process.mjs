import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

/** What a Node program that nothing has warmed up prints, as JSON. */
export async function inFreshProcess(args) {
  const { stdout } = await run(process.execPath, args);
  return JSON.parse(stdout);
}
