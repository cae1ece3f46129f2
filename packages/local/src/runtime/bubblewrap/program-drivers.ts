import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { lonePythonDriver } from "@cloud-sandbox/server-kit/execution";

const run = promisify(execFile);
const compileLimitMs = 20_000;

const compileScript = `import py_compile, sys
py_compile.compile(sys.argv[1], cfile=sys.argv[2], dfile="<cloud-sandbox>", doraise=True)`;

/**
 * Writes the drivers of programs that run without an agent to `directory`. Python's driver is also compiled, which
 * saves each program several milliseconds. If the driver cannot be compiled, or a machine has another Python, its source is
 * used. `searchPath`: the PATH on which machines find Python.
 */
export async function placeDrivers(directory: string, searchPath: string): Promise<void> {
  const { name, source } = lonePythonDriver;
  const [file, compiled] = [join(directory, `${name}.py`), join(directory, `${name}.pyc`)];
  await mkdir(directory);
  await chmod(directory, 0o755);
  await writeFile(file, source);
  await chmod(file, 0o644);
  const python = searchPath
    .split(":")
    .map((place) => join(place, "python3"))
    .find((path) => existsSync(path));
  if (python === undefined) return;
  const options = { cwd: "/", timeout: compileLimitMs, killSignal: "SIGKILL" as const };
  await run(python, ["-I", "-S", "-c", compileScript, file, compiled], options).then(
    () => chmod(compiled, 0o644),
    () => undefined,
  );
}
