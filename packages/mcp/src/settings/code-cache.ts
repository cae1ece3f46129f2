/** V8's code cache of this server's files, for Node.js 20, which has no compile cache of its own. */
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import Module, { createRequire, wrap } from "node:module";
import { basename, dirname, join } from "node:path";
import { cachedDataVersionTag } from "node:v8";
import { Script } from "node:vm";
import { crc32 } from "node:zlib";

/** The internal method with which Node.js compiles a CommonJS module. Only used on Node.js 20, which no longer changes. */
const modules = Module.prototype as unknown as {
  _compile(this: { exports: unknown }, code: string, file: string): unknown;
};

const checksumBytes = 4;

/** V8 does not use a cache of another version, other flags or another processor: each has a file name of its own. */
const version = `${process.version}-${process.arch}-${cachedDataVersionTag()}`;

/**
 * Loads the modules in `sources` with the code that V8 compiled in an earlier process, and writes new compiled code to `directory`
 * when this process exits. The names of the modules contain the digest of their content, so a name stands for one content.
 * Without the right to write to `directory`, the modules are compiled as always.
 */
export function keepCompiledCode(sources: string, directory: string): void {
  const compileAsAlways = modules._compile;
  const added = new Map<string, Script>();
  modules._compile = function (code, filename) {
    // Code that V8 takes from a cache cannot resolve a dynamic import, so a module with one is not cached.
    if (dirname(filename) !== sources || /\bimport\s*\(/.test(code))
      return compileAsAlways.call(this, code, filename);
    const cache = join(directory, `${basename(filename)}-${version}`);
    const script = new Script(wrap(code), {
      filename,
      cachedData: readChecked(cache),
    });
    if (script.cachedDataRejected !== false) added.set(cache, script);
    const evaluate: (...names: unknown[]) => unknown = script.runInThisContext();
    return evaluate.call(this.exports, this.exports, createRequire(filename), this, filename, sources);
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
    return content.readUInt32LE(data.length) === crc32(data) ? data : undefined;
  } catch {
    return undefined;
  }
}

/** Writes data with its checksum. Ignores errors: without the file, the next start only takes longer. */
function write(file: string, data: Buffer): void {
  const checksum = Buffer.alloc(checksumBytes);
  checksum.writeUInt32LE(crc32(data));
  const unfinished = `${file}.${process.pid}`;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    try {
      writeFileSync(unfinished, Buffer.concat([data, checksum]), { mode: 0o600, flag: "wx" });
      renameSync(unfinished, file);
    } finally {
      rmSync(unfinished, { force: true });
    }
  } catch {
    // Ignore the error: the next start compiles the modules again.
  }
}
