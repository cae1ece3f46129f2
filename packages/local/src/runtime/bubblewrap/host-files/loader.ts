import { execFile } from "node:child_process";
import { closeSync, openSync, readSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { tryOnce } from "../../host/host-trial.js";

const run = promisify(execFile);

/**
 * Path of the dynamic loader that an ELF executable asks for, or undefined for a static one.
 *
 * Machines start their init and their agent through a copy of the loader that can be executed but not read. The kernel
 * makes such a process undumpable, so that code of the same uid can neither open its `/proc/<pid>/mem` nor see
 * its environment and file descriptors.
 */
export function dynamicLoader(executable: string): string | undefined {
  const file = openSync(executable, "r");
  try {
    const read = (position: number, length: number): Buffer => {
      const buffer = Buffer.alloc(length);
      readSync(file, buffer, 0, length, position);
      return buffer;
    };
    const header = read(0, 64);
    const isElf64LittleEndian = header.readUInt32BE(0) === 0x7f454c46 && header[4] === 2 && header[5] === 1;
    if (!isElf64LittleEndian) return undefined;
    const tableOffset = Number(header.readBigUInt64LE(32));
    const entrySize = header.readUInt16LE(54);
    const entryCount = header.readUInt16LE(56);
    for (let index = 0; index < entryCount; index += 1) {
      const entry = read(tableOffset + index * entrySize, entrySize);
      if (entry.readUInt32LE(0) !== programInterpreter) continue;
      const path = read(Number(entry.readBigUInt64LE(8)), Number(entry.readBigUInt64LE(32)));
      return path.toString("utf8").replace(/\0.*$/s, "");
    }
    return undefined;
  } finally {
    closeSync(file);
  }
}

const programInterpreter = 3;

/** The directories in which `loader` finds the shared libraries of `executables`. */
export async function libraryDirectories(loader: string, executables: readonly string[]): Promise<string[]> {
  const libraries = await Promise.all(executables.map((executable) => sharedLibraries(loader, executable)));
  return [...new Set(libraries.flat().map((path) => dirname(realpathSync(path))))];
}

/** The shared libraries of `executable` as `loader` finds them, each under the name by which programs ask for it. */
export async function sharedLibraries(loader: string, executable: string): Promise<string[]> {
  const programs = [loader, executable, "/etc/ld.so.cache"];
  const { LD_LIBRARY_PATH, LD_PRELOAD } = process.env;
  return tryOnce(
    "libraries",
    { programs, about: [loader, executable, LD_LIBRARY_PATH, LD_PRELOAD] },
    async () => {
      const { stdout } = await run(loader, ["--list", executable]);
      return [...stdout.matchAll(/=> (\/.*) \(0x/g)].map(([, path = ""]) => path);
    },
  );
}
