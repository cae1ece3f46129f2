import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { expectedPackages, missingPackages } from "./catalogue/installed-packages.js";
import { SetupError } from "./errors/local-errors.js";

/**
 * Installs on this machine what people expect of a code interpreter and what is missing: Debian's packages, and those of PyPI that
 * Debian lacks. Needs root, and Debian or Ubuntu. `tell` is called with what is being done. Throws a SetupError that says
 * what to do where it cannot.
 */
export async function setUp(tell: (line: string) => void): Promise<void> {
  const missing = await missingPackages();
  if (missing.length === 0)
    return tell("Everything that is expected of the template code-interpreter is there.");
  const debian = missing.flatMap((name) => expectedPackages[name] ?? []);
  const others = missing.filter((name) => expectedPackages[name] === undefined);
  const install = ["apt-get", "install", "-y", "--no-install-recommends", ...debian];
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get"))
    throw new SetupError(
      `Only root can install ${readable(missing)}, and only on Debian or Ubuntu. Run: sudo ${install.join(" ")}. Without root, build a template that has them: "pip install" as its step (see the guide to templates).`,
    );
  if (debian.length > 0) {
    tell(`Installing with apt-get, which can take some minutes: ${debian.join(" ")}`);
    if (!(await succeeds(install))) {
      tell("Refreshing the lists of packages");
      await succeeds(["apt-get", "update"]);
      if (!(await succeeds(install))) throw failed(install);
    }
  }
  if (others.length > 0) {
    tell(`Installing from PyPI: ${others.join(" ")}`);
    const pip = ["/usr/bin/python3", "-m", "pip", "install", "--quiet", "--no-cache-dir", ...others];
    if (!(await succeeds(pip))) throw failed(pip);
  }
  tell("Sandboxes that start now have them.");
}

const readable = (names: readonly string[]): string => names.join(", ").replaceAll("_", "-");

const failed = (command: readonly string[]): SetupError =>
  new SetupError(
    `The packages could not be installed: what went wrong is above. Correct it, and run again: ${command.join(" ")}`,
  );

/** Runs a command, and shows what it complains of. */
async function succeeds([program = "", ...args]: readonly string[]): Promise<boolean> {
  const env = {
    ...process.env,
    DEBIAN_FRONTEND: "noninteractive",
    PIP_BREAK_SYSTEM_PACKAGES: "1",
    PIP_ROOT_USER_ACTION: "ignore",
  };
  const child = spawn(program, args, { cwd: "/", env, stdio: ["ignore", "ignore", process.stderr] });
  const [code] = await once(child, "exit").catch(() => [1]);
  return code === 0;
}
