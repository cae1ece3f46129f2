import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/**
 * Runs a server from a file of this directory while `use` runs. The server has a process of its own, so that it and its
 * caller use a processor each.
 */
export async function withServed(file, use) {
  const server = fork(fileURLToPath(new URL(file, import.meta.url)));
  try {
    const [url] = await once(server, "message");
    return await use(url);
  } finally {
    server.disconnect();
  }
}
