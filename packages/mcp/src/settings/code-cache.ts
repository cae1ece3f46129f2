/** V8's code cache of this server's files, for Node.js 20, which has no compile cache of its own. */
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import Module, { createRequire, wrap } from "node:module";
import { basename, dirname, join } from "node:path";
import { cachedDataVersionTag } from "node:v8";
import { constants, Script } from "node:vm";
import { crc32 } from "node:zlib";

/** What Node.js 20 compiles a CommonJS module with. It is internal, but Node.js 20 no longer changes. */
const modules = Module.prototype as unknown as {
  _compile(this: { exports: unknown }, code: string, file: string): unknown;
};

const checksumBytes = 4;

/** V8 does not use a cache of another version, other flags or another processor: each has a file name of its own. */
const version = `${process.version}-${process.arch}-${cachedDataVersionTag()}`;

/**
 * Compiles the modules in `sources` with what V8 compiled for them in an earlier process, and writes that to `directory` when
 * this process exits. The names of the modules contain the digest of their content, so a name stands for one content.
 * Without the right to write to `directory`, the modules are compiled as always.
 */
export function keepCompiledCode(sources: string, directory: string): void {
  const compileAsAlways = modules._compile;
  const added = new Map<string, Script>();
  modules._compile = function (code, filename) {
    if (dirname(filename) !== sources) return compileAsAlways.call(this, code, filename);
    const cache = join(directory, `${basename(filename)}-${version}`);
    const script = new Script(wrap(code), {
      filename,
      cachedData: readChecked(cache),
      importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
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
 * The data of a file by {@link write}; undefined if there is none, if it is damaged, or if another user could have written it:
 * V8 checks neither, and runs the data as it is.
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

/** Writes data with its checksum, or nothing where that is impossible: the next start only takes longer. */
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
    // Nothing is stored.
  }
}
