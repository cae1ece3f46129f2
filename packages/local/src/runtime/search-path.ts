import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { connectCommand } from "@cloud-sandbox/server-kit/execution";
import connectThroughProxy from "./connect-through-proxy.cjs?raw";

/** The order in which Debian searches the program directories of `/usr`. */
const systemDirectories = ["/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin"];

const fallbacks = "/opt/cloud-sandbox/fallbacks";

/**
 * The PATH of a machine whose Node.js is at `node`. The fallbacks come last, so that a real program of the same name,
 * from the host or a virtual environment, is found first.
 */
export function searchPath(node: string): string {
  return [...new Set([dirname(node), ...systemDirectories, fallbacks])].join(":");
}

/** A PATH that works in every machine: it has both directories outside `/usr` in which Node.js may be. */
export const searchPathAnywhere = [
  "/opt/node/bin",
  "/opt/cloud-sandbox/bin",
  ...systemDirectories,
  fallbacks,
].join(":");

/**
 * Creates the commands `python`, `pip` and `pip3` for machines on hosts that have only `python3`, such as Debian. They
 * are scripts, not links, so that a virtual environment created with `python` names the real interpreter. Also creates the command
 * with which programs that know no proxy connect.
 */
export function writeFallbacks(parts: string): void {
  const directory = join(parts, "fallbacks");
  mkdirSync(directory);
  chmodSync(directory, 0o755);
  const hasPython = systemDirectories.some((path) => existsSync(join(path, "python3")));
  for (const [name, script] of Object.entries(hasPython ? fallbackScripts : ownScripts)) {
    writeFileSync(join(directory, name), script);
    chmodSync(join(directory, name), 0o755);
  }
}

const pythonScript = `#!/bin/sh
exec python3 "$@"
`;

/** Debian's Python comes without pip, so the script says how to install it. */
const pipScript = (name: string): string => `#!/bin/sh
python3 -c 'import pip' 2>/dev/null && exec python3 -m pip "$@"
echo "${name}: this Python has no pip. Install it on the machine that runs the sandboxes (Debian and Ubuntu: apt-get install python3-pip), or only here: curl -sSf https://bootstrap.pypa.io/get-pip.py | python3" >&2
exit 127
`;

/** Scripts that are used even if a program has their name. */
const ownScripts = { [connectCommand]: connectThroughProxy };

/** The scripts that stand in for programs that are not installed, by name. */
export const fallbackScripts: Readonly<Record<string, string>> = {
  ...ownScripts,
  python: pythonScript,
  pip: pipScript("pip"),
  pip3: pipScript("pip3"),
};
