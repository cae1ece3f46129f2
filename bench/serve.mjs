import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const main = fileURLToPath(new URL("../packages/local/dist/main.js", import.meta.url));

/** Starts the built local server in a process of its own. */
export const serve = (...args) => serveThrough([], ...args);

/** The same, with a command that executes the words that follow it. */
export async function serveThrough(through, ...args) {
  const [program, ...words] = [...through, process.execPath, main, "serve", "--json", ...args];
  const child = spawn(program, words, { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = await once(child.stdout.setEncoding("utf8"), "data");
  const { url, api_key: apiKey } = JSON.parse(line);
  return {
    url,
    apiKey,
    pid: child.pid,
    async stop() {
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
}
