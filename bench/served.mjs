import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** A server of this directory in a process of its own, so that it and its caller have a core each, while `use` runs. */
export async function withServed(file, use) {
  const server = fork(fileURLToPath(new URL(file, import.meta.url)));
  try {
    const [url] = await once(server, "message");
    return await use(url);
  } finally {
    server.disconnect();
  }
}
