import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { promisify } from "node:util";
import { missingDesktopPackages } from "./catalogue/desktop-packages.js";
import {
  expectedPackages,
  installedPackages,
  missingPackages,
  pythonPackages,
} from "./catalogue/installed-packages.js";
import { SetupError } from "./errors/local-errors.js";
import { userPackagesRoot } from "./runtime/host/host-packages.js";

const run = promisify(execFile);
const python = "/usr/bin/python3";

/**
 * Installs what people expect of a code interpreter and what is missing. As root on Debian and Ubuntu: Debian's packages, and those of
 * PyPI that Debian lacks, on this machine. As an ordinary user: the packages for Python, from PyPI, where only the sandboxes of this user
 * see them. `tell` is called with what is being done. Throws a SetupError that says what to do where it cannot.
 */
export async function setUp(tell: (line: string) => void): Promise<void> {
  const missing = missingPackages(await installedPackages());
  if (missing.length === 0)
    return tell("Everything that is expected of the template code-interpreter is there.");
  if (process.getuid?.() === 0) await setUpMachine(missing, tell);
  else await setUpUser(missing, tell);
  tell("Sandboxes that start now have them.");
}

/** Installs what the template `desktop` lacks: as root on Debian and Ubuntu. `tell` and the errors are those of {@link setUp}. */
export async function setUpDesktop(tell: (line: string) => void): Promise<void> {
  const missing = missingDesktopPackages();
  if (missing.length === 0) return tell("Everything that the template desktop needs is there.");
  const command = ["apt-get", "install", "-y", "--no-install-recommends", ...missing];
  if (!existsSync("/usr/bin/apt-get"))
    throw new SetupError(
      `Only on Debian and Ubuntu this command can install a desktop. Install these with this system's package manager: ${missing.join(", ")}.`,
    );
  if (process.getuid?.() !== 0)
    throw new SetupError(`Only root can install a desktop: sudo ${command.join(" ")}`);
  await installWithApt(command, missing, tell);
  tell("Sandboxes of the template desktop can be created now.");
}

async function installWithApt(
  command: readonly string[],
  packages: readonly string[],
  tell: (line: string) => void,
): Promise<void> {
  tell(`Installing with apt-get, which can take some minutes: ${packages.join(" ")}`);
  if (await succeeds(command)) return;
  tell("Refreshing the lists of packages");
  await succeeds(["apt-get", "update"]);
  if (!(await succeeds(command))) throw failed(command);
}

async function setUpMachine(missing: readonly string[], tell: (line: string) => void): Promise<void> {
  const others = missing.filter((name) => expectedPackages[name] === undefined);
  const install = aptGet(missing);
  if (!existsSync("/usr/bin/apt-get"))
    throw new SetupError(
      `Only on Debian and Ubuntu this command can install ${readable(missing)}. Install them with this system's package manager, below /usr.`,
    );
  if (install.packages.length > 0) await installWithApt(install.command, install.packages, tell);
  if (others.length > 0) {
    tell(`Installing from PyPI: ${others.join(" ")}`);
    const pip = [...pipInstall, ...others];
    if (!(await succeeds(pip))) throw failed(pip);
  }
}

async function setUpUser(missing: readonly string[], tell: (line: string) => void): Promise<void> {
  const ofPython = missing.filter((name) => pythonPackages.includes(name));
  const others = missing.filter((name) => !ofPython.includes(name));
  const root = userPackagesRoot();
  if (ofPython.length > 0) {
    const lack = await lackOfPip();
    if (lack !== undefined || root === undefined)
      throw new SetupError(
        `${lack ?? "This user has no home directory, where the packages would be"}. Root can install ${readable(missing)} for everybody: sudo ${aptGet(missing).command.join(" ")}`,
      );
    tell(`Installing from PyPI to ${root}, which can take some minutes: ${readable(ofPython)}`);
    await mkdir(root, { recursive: true, mode: 0o700 });
    const pip = [...pipInstall, "--root", root, ...ofPython.map((name) => name.replaceAll("_", "-"))];
    if (!(await succeeds(pip))) throw failed(pip);
  }
  if (others.length > 0)
    tell(`Only root can install ${readable(others)}: sudo ${aptGet(others).command.join(" ")}`);
  if (ofPython.length === 0) throw new SetupError("Nothing was installed.");
}

const pipInstall = [python, "-m", "pip", "install", "--quiet", "--no-cache-dir", "--no-warn-script-location"];

/** Debian's packages of these names, and the command that installs them. */
function aptGet(names: readonly string[]): { packages: readonly string[]; command: readonly string[] } {
  const packages = names.flatMap((name) => expectedPackages[name] ?? []);
  return { packages, command: ["apt-get", "install", "-y", "--no-install-recommends", ...packages] };
}

/** Why pip cannot be used. Undefined if it can. */
async function lackOfPip(): Promise<string | undefined> {
  if (!existsSync(python)) return "There is no Python at /usr/bin/python3";
  return run(python, ["-m", "pip", "--version"], { cwd: "/" }).then(
    () => undefined,
    () => "Python's pip is not installed",
  );
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
    // Sandboxes do not see what this user has installed in the home directory.
    PYTHONNOUSERSITE: "1",
  };
  const child = spawn(program, args, { cwd: "/", env, stdio: ["ignore", "ignore", process.stderr] });
  const [code] = await once(child, "exit").catch(() => [1]);
  return code === 0;
}
