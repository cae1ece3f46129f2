import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { benchCopies } from "./cli/copies.mjs";
import { benchMcpQuick } from "./cli/mcp-quick.mjs";
import { cloudSandbox, runCommand } from "./cli/run-command.mjs";
import { benchSessions } from "./cli/sessions.mjs";
import { hardened } from "./isolated.mjs";
import { byNode, compare } from "./measure.mjs";
import { serve } from "./serve.mjs";

const bareNode = [process.execPath, "-e", "0"];
const printOne = [...cloudSandbox, "run", "--code", "print(1)"];

/**
 * Measures the built command `cloud-sandbox` against bare Node.js and bubblewrap, without which it cannot run a
 * program.
 */
export async function benchCli() {
  // bubblewrap mounts this directory as another user, because `hardened` drops root: that user must be able to write to
  // it.
  const directory = mkdtempSync(join(tmpdir(), "bench-"));
  chmodSync(directory, 0o777);
  // Use a home directory of its own: a stored login in the real one would send the command to another server. No other user can write to
  // it: the command stores no compiled code where one could, and would start slower.
  const home = mkdtempSync(join(tmpdir(), "bench-home-"));
  const env = { PATH: process.env.PATH, HOME: home };
  const server = await serve("--pool", "2");
  const remote = { ...env, CLOUD_SANDBOX_API_KEY: server.apiKey, CLOUD_SANDBOX_BASE_URL: server.url };
  const floor = async () => {
    await runCommand(bareNode, env);
    await runCommand(hardened(directory), env, "1\n");
  };
  // Wait between rounds, because the server boots another machine for its pool after each run.
  const settle = () => new Promise((resolve) => setTimeout(resolve, 400));
  try {
    return [
      await compare({
        name: "cloud-sandbox --help, over a bare Node.js start",
        limit: 1.9,
        rounds: 20,
        floor: () => runCommand(bareNode, env),
        subject: () => runCommand([...cloudSandbox, "--help"], env),
      }),
      await compare({
        name: "cloud-sandbox run with a running server, over bare Node.js and bubblewrap with python3",
        // Importing undici whole costs 40 ms. On Node.js 20 the end of the process waits another 60 ms for its HTTP parser, which
        // V8 still compiles.
        limit: byNode(5, 4),
        rounds: 15,
        floor,
        subject: () => runCommand(printOne, remote, "1\n"),
        settle,
      }),
      await compare({
        name: "cloud-sandbox run on this machine, cold, over bare Node.js and bubblewrap with python3",
        limit: byNode(8.5, 6.5),
        rounds: 10,
        floor,
        subject: () => runCommand(printOne, env, "1\n"),
        settle,
      }),
      ...(await benchMcpQuick({ env, settle })),
      await benchSessions({ env: remote }),
      ...(await benchCopies({ env })),
    ];
  } finally {
    await server.stop();
    for (const each of [directory, home]) rmSync(each, { recursive: true });
  }
}
