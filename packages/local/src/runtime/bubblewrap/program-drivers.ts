import { execFile } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { oneShotPythonDriver } from "@cloud-sandbox/server-kit/execution";
import { tryOnce } from "../host/host-trial.js";

const run = promisify(execFile);
const compileLimitMs = 20_000;

/** Prints what Python's file of compiled code contains, in Base64. */
const compileScript = `import base64, importlib.util, marshal, sys
with open(sys.argv[1]) as file:
    code = compile(file.read(), "<cloud-sandbox>", "exec")
header = importlib.util.MAGIC_NUMBER + bytes(12)
print(base64.b64encode(header + marshal.dumps(code)).decode())`;

/**
 * Writes the drivers of programs that run without an agent to `directory`. Python's driver is also compiled, which
 * saves each program several milliseconds. If the driver cannot be compiled, or a machine has another Python, its source is
 * used. `searchPath`: the PATH on which machines find Python.
 */
export async function placeDrivers(directory: string, searchPath: string): Promise<void> {
  const { name, source } = oneShotPythonDriver;
  const [file, compiled] = [join(directory, `${name}.py`), join(directory, `${name}.pyc`)];
  mkdirSync(directory);
  chmodSync(directory, 0o755);
  writeFileSync(file, source);
  chmodSync(file, 0o644);
  const python = searchPath
    .split(":")
    .map((directory) => join(directory, "python3"))
    .find((path) => existsSync(path));
  if (python === undefined) return;
  const compile = async (): Promise<string> => {
    const options = { cwd: "/", timeout: compileLimitMs, killSignal: "SIGKILL" as const };
    const { stdout } = await run(python, ["-I", "-S", "-c", compileScript, file], options);
    return stdout;
  };
  const code = await tryOnce("driver", { programs: [python], about: source }, compile).catch(() => undefined);
  if (code === undefined) return;
  writeFileSync(compiled, Buffer.from(code, "base64"));
  chmodSync(compiled, 0o644);
}
