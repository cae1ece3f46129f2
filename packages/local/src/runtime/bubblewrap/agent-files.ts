import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, copyFileSync, existsSync } from "node:fs";
import { chmod, cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { cachedDataVersionTag } from "node:v8";
import { keptOrMade } from "../host/kept-bytes.js";

const run = promisify(execFile);

const compileLimitMs = 20_000;
const largestCache = 16 * 1024 * 1024;

/** The file in the agent's directory that Node.js starts. */
export const agentMain = "main.cjs";
/** The file beside it with V8's code cache. */
export const codeCache = "program.cache";
export const nodeProxy = "node-proxy.cjs";

/**
 * Copies the agent's files to `target` and adds V8's code cache of the agent's program, which makes every boot faster. The
 * cache is made once and kept for this user's next servers. If it cannot be made, the agent starts without a cache.
 * `scratch` is the path of a temporary directory, which this function creates and removes.
 */
export async function placeAgent(target: string, scratch: string): Promise<void> {
  const source = agentSource();
  const [cache] = await Promise.all([
    keptOrMade(await cacheName(source), () => compile(source, scratch)),
    cp(source, target, { recursive: true }),
  ]);
  if (cache) await writeFile(join(target, codeCache), cache);
  // The umask may keep the sandboxes' uids from reading the files.
  await chmod(target, 0o755);
  for (const name of await readdir(target)) await chmod(join(target, name), 0o644);
}

function agentSource(): string {
  const source = fileURLToPath(new URL("./agent", import.meta.url));
  if (existsSync(source)) return source;
  throw new Error("The agent is missing from this installation of cloud-sandbox-local; install it again.");
}

/** Copies the script that makes Node.js use the proxy to `directory`: programs without an agent load it too. */
export function placeNodeProxy(directory: string): void {
  copyFileSync(join(agentSource(), nodeProxy), join(directory, nodeProxy));
  chmodSync(join(directory, nodeProxy), 0o644);
}

/** The name of the cached code. It contains all that the cache depends on: V8's version and options, the CPU, and the program. */
async function cacheName(source: string): Promise<string> {
  const digest = createHash("sha256").update(`${process.version} ${process.arch} ${cachedDataVersionTag()}`);
  for (const name of (await readdir(source)).sort()) digest.update(await readFile(join(source, name)));
  return `agent-${digest.digest("hex").slice(0, 32)}`;
}

async function compile(source: string, scratch: string): Promise<Buffer | undefined> {
  await mkdir(scratch, { mode: 0o700 });
  try {
    const { stdout } = await run(process.execPath, [join(source, agentMain), "--compile", scratch], {
      cwd: "/",
      env: { PATH: process.env.PATH },
      encoding: "buffer",
      maxBuffer: largestCache,
      timeout: compileLimitMs,
      killSignal: "SIGKILL",
    });
    return stdout;
  } catch {
    return undefined;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
