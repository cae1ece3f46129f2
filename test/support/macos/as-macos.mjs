/**
 * Preloaded with `--import`, it lets a Node.js program on Linux see what it would see on macOS: the platform's name, no `/proc`
 * and nothing else that only Linux has, and none of the programs that only Linux has.
 */
import childProcess from "node:child_process";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { promisify } from "node:util";

Object.defineProperty(process, "platform", { value: "darwin" });

const absent = /^\/(proc|sys|dev\/shm|run|etc\/(machine-id|os-release|passwd))(\/|$)/;
const absentPrograms = ["bwrap", "setpriv", "nsenter", "unshare", "mount", "prlimit"];

const missing = (name, subject) =>
  Object.assign(new Error(`ENOENT: no such file or directory, ${name} '${subject}'`), { code: "ENOENT" });

function hide(holder, name, isAbsent, refuse) {
  const hiding = (original) =>
    function hidden(...args) {
      return isAbsent(String(args[0]))
        ? refuse(missing(name, args[0]), args)
        : Reflect.apply(original, this, args);
    };
  const original = holder[name];
  if (typeof original !== "function") return;
  holder[name] = Object.assign(hiding(original), original);
  const promised = original[promisify.custom];
  if (promised) Object.defineProperty(holder[name], promisify.custom, { value: hiding(promised) });
}

const isAbsentPath = (path) => absent.test(path);
for (const name of Object.keys(fs).filter((name) => name.endsWith("Sync")))
  hide(fs, name, isAbsentPath, (error, [, options]) => {
    if (name === "existsSync") return false;
    if (options?.throwIfNoEntry === false) return undefined;
    throw error;
  });
for (const name of Object.keys(fs.promises))
  if (typeof fs.promises[name] === "function")
    hide(fs.promises, name, isAbsentPath, (error) => Promise.reject(error));

const isAbsentProgram = (program) => absentPrograms.includes(program.split("/").at(-1));
for (const name of ["spawn", "spawnSync", "execFile", "execFileSync"])
  hide(childProcess, name, isAbsentProgram, (error) => {
    throw error;
  });

syncBuiltinESMExports();
