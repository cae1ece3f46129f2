import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Removes a directory that code in a sandbox has filled. It may go deeper than a path can name, where Node gives up. */
export async function removeTree(path: string): Promise<void> {
  await run("rm", ["-rf", "--", path], { cwd: "/" });
}
