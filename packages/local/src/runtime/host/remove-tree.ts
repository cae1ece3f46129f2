import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Removes a directory that code in a sandbox has filled. Uses `rm`: Node's own fails on trees deeper than the longest path. */
export async function removeTree(path: string): Promise<void> {
  await run("rm", ["-rf", "--", path], { cwd: "/" });
}
