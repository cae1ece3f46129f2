import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { extract } from "tar";
import { InstanceDirectory } from "../../host/instance-directory.js";
import { keptOrMade } from "../../host/kept-bytes.js";

const run = promisify(execFile);

const fetchLimitMs = 10 * 60_000;
/** npm's report lists all files of the package. */
const largestReport = 16 * 1024 * 1024;

/**
 * A Node.js for Linux from the npm registry, of this Node.js's major version. The command `npm` fetches it with the user's
 * configuration, and refuses a package that has not the hash which the registry tells. It is kept for this user's next servers.
 */
export async function nodeFromRegistry(arch: string, log: (message: string) => void): Promise<Buffer> {
  const name = `node-linux-${arch}`;
  const [major = ""] = process.versions.node.split(".");
  const node = await keptOrMade(`${name}-${major}`, () => {
    log(`npm fetches ${name}@${major}, the Node.js of the agents in containers.`);
    return fetchNode(`${name}@${major}`);
  });
  if (!node) throw new Error(`npm fetched nothing for ${name}@${major}`);
  return node;
}

async function fetchNode(wanted: string): Promise<Buffer> {
  // In an empty directory, so that no configuration of a project is read.
  const { path: directory, remove } = await InstanceDirectory.createPrivate();
  try {
    const options = [
      ...["--pack-destination", directory, "--json", "--ignore-scripts", "--loglevel=error"],
      // npm waits up to a minute before it tries again. Callers do not wait as long for a sandbox.
      ...["--fetch-retry-mintimeout=500", "--fetch-retry-maxtimeout=2000"],
    ];
    const { stdout } = await run("npm", ["pack", wanted, ...options], {
      cwd: directory,
      timeout: fetchLimitMs,
      maxBuffer: largestReport,
    }).catch((error: unknown) => {
      throw new Error(`npm could not fetch ${wanted} (${reasonOf(error)})`, { cause: error });
    });
    const [report] = JSON.parse(stdout) as { filename: string }[];
    const file = join(directory, report?.filename ?? "");
    await extract({ file, cwd: directory, filter: (path) => path === "package/bin/node" });
    return await readFile(join(directory, "package", "bin", "node"));
  } finally {
    await remove();
  }
}

/** npm's code of the error. Its other words may hold the address of a registry with a password. */
function reasonOf(error: unknown): string {
  const { code, stderr = "" } = error as { readonly code?: unknown; readonly stderr?: string };
  if (code === "ENOENT") return "the command npm is not installed";
  return /^npm (?:error|ERR!) code (\w+)/m.exec(stderr)?.[1] ?? `exit code ${String(code)}`;
}
