/** Stores what V8 compiles of a program, which makes its next start faster. */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import Module, { createRequire, wrap } from "node:module";
import { basename, dirname, join } from "node:path";
import { cachedDataVersionTag } from "node:v8";
import { Script } from "node:vm";

/** The part of `node:module` that exists since Node.js 22.1. */
interface CompileCache {
  enableCompileCache?(directory: string): unknown;
}

/**
 * Stores compiled code in `directory`. Does nothing if another user could change what is there, because compiled code is run as it
 * is found, or if the directory cannot be made.
 */
export function keepCompiledCode(directory: string): void {
  if (!isOwn(directory)) return;
  const { enableCompileCache } = Module as CompileCache;
  if (enableCompileCache) enableCompileCache(directory);
  else keepMarkedModules(directory);
}

/** Whether the directory, which is made if there is none, belongs to this user, and no other can write to it. */
function isOwn(directory: string, others = 0o022): boolean {
  const uid = process.getuid?.();
  try {
    const status = statSync(directory, { throwIfNoEntry: false });
    if (status) return uid === undefined || (status.uid === uid && (status.mode & others) === 0);
    // Some systems let the user's group, which has no other members, write to all directories of the user.
    if (!isOwn(dirname(directory), 0o002)) return false;
    mkdirSync(directory, { mode: 0o700 });
    return true;
  } catch {
    return false;
  }
}

/** The internal method with which Node.js compiles a CommonJS module. Only used on Node.js 20, which no longer changes. */
const modules = Module.prototype as unknown as {
  _compile(this: { exports: unknown }, code: string, file: string): unknown;
};

/**
 * What the build puts before a module that can be cached: the digest of the module, as V8 compares only its length. The build leaves
 * modules with a dynamic import unmarked, because code from a cache cannot resolve one (scripts/compiled-code-mark.ts).
 */
const mark = /^\/\*compiled code ([0-9a-f]{32})\*\//;

const checksumBytes = 20;

/** V8 does not use a cache of another version, other flags or another processor: each has a file name of its own. */
const version = `${process.version}-${process.arch}-${cachedDataVersionTag()}`;

/**
 * Node.js 20 has no compile cache: loads modules with the code that V8 compiled in an earlier process, and writes new compiled code
 * when this process exits, so that it contains what was compiled only when it was called.
 */
function keepMarkedModules(directory: string): void {
  const compileAsAlways = modules._compile;
  const added = new Map<string, Script>();
  modules._compile = function (code, filename) {
    const digest = mark.exec(code)?.[1];
    if (digest === undefined) return compileAsAlways.call(this, code, filename);
    const cache = join(directory, `${basename(filename)}-${digest}-${version}`);
    const script = new Script(wrap(code), { filename, cachedData: readChecked(cache) });
    if (script.cachedDataRejected !== false) added.set(cache, script);
    const evaluate: (...names: unknown[]) => unknown = script.runInThisContext();
    return evaluate.call(
      this.exports,
      this.exports,
      createRequire(filename),
      this,
      filename,
      dirname(filename),
    );
  };
  process.once("exit", () => {
    for (const [cache, script] of added) write(cache, script.createCachedData());
  });
}

/**
 * The data of a file by {@link write}. Undefined if there is no file, if it is damaged, or if another user could have written
 * it, because V8 checks neither before it runs the data.
 */
function readChecked(file: string): Buffer | undefined {
  try {
    const { uid, mode } = statSync(file);
    if (uid !== process.getuid?.() || (mode & 0o022) !== 0) return undefined;
    const content = readFileSync(file);
    const data = content.subarray(0, -checksumBytes);
    return content.subarray(-checksumBytes).equals(checksumOf(data)) ? data : undefined;
  } catch {
    return undefined;
  }
}

/** Against damage only: who can write the file can write the checksum too. Programs load node:crypto anyway, and not node:zlib. */
const checksumOf = (data: Buffer): Buffer => createHash("sha1").update(data).digest();

/** Writes data with its checksum. Ignores errors: without the file, the next start only takes longer. */
function write(file: string, data: Buffer): void {
  const unfinished = `${file}.${process.pid}`;
  try {
    try {
      writeFileSync(unfinished, Buffer.concat([data, checksumOf(data)]), { mode: 0o600, flag: "wx" });
      renameSync(unfinished, file);
    } finally {
      rmSync(unfinished, { force: true });
    }
  } catch {
    // Ignore the error: the next start compiles the modules again.
  }
}
