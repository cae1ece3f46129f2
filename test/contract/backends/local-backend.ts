import { existsSync } from "node:fs";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startLocalServer } from "../../support/local-server.js";
import type { Backend } from "./backend.js";
import { networkBackend } from "./network-backend.js";

/** The local control plane as a backend, in a process of its own. */
export async function startLocalBackend(): Promise<Backend> {
  const copied = await mkdtemp(join(tmpdir(), "copied-"));
  await chmod(copied, 0o755);
  const args = ["--pool", "1", "--webhook-allow-private", "--allow-mount", copied];
  const server = await startLocalServer({ args });
  const languages = ["python", "javascript", "bash", ...(existsSync("/usr/bin/go") ? ["go"] : [])];
  const backend = networkBackend({ url: server.url, apiKey: server.apiKey, languages });
  return {
    ...backend,
    copied,
    async close() {
      await backend.close();
      await server.stop();
      await rm(copied, { recursive: true, force: true });
    },
  };
}
