#!/usr/bin/env node
// Runs an npm script. First installs missing dependencies, and builds packages that are out of date (turbo.json).
//   node scripts/bootstrap.mjs demo|test|setup|check|bench|build|dev|docs|pack [arguments of the command]
import { spawn, spawnSync } from "node:child_process";
import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { canInstall, sandboxObstacle, sandboxPackages, testPackages } from "./host-packages.mjs";
import { installOnHost, setUpKubernetes } from "./host-setup.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
// turbo looks for pnpm there.
process.env.PATH = `${join(root, "node_modules", ".bin")}${delimiter}${process.env.PATH}`;
process.env.TURBO_TELEMETRY_DISABLED = "1";
const local = join(root, "packages", "local", "dist", "main.js");

const commands = {
  demo: {
    packages: sandboxPackages,
    sandboxes: "of any runtime",
    setsUp: true,
    run: ["node", "examples/demo.mjs"],
  },
  test: {
    packages: [...sandboxPackages, ...testPackages],
    sandboxes: "wanted",
    run: [bin("vitest"), "run"],
  },
  setup: { packages: [...sandboxPackages, ...testPackages], prepares: true },
  check: { run: ["node", "scripts/check.mjs"] },
  bench: { packages: sandboxPackages, sandboxes: "of bubblewrap", run: ["node", "bench/run.mjs"] },
  build: {},
  dev: { run: [bin("turbo"), "watch", "build"] },
  docs: { run: ["node", "scripts/build-site.mjs"] },
  pack: { run: ["node", "scripts/pack.mjs"] },
};

class Refusal extends Error {}
const children = new Set();
let stoppedBy;
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => stop(signal));
// End with npm's shell: a signal ends the shell, but the shell does not pass it on to this process.
const { ppid } = process;
setInterval(() => process.ppid !== ppid && !stoppedBy && stop("SIGTERM"), 500).unref();

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof Refusal)) throw error;
  if (!stoppedBy) console.error(error.message);
  process.exitCode = 1;
}
if (stoppedBy) process.exitCode = stoppedBy === "SIGINT" ? 130 : 143;

async function main([name, ...rest]) {
  const command = commands[name];
  if (!command) throw new Refusal(`Usage: npm run ${Object.keys(commands).join(" | npm run ")}`);
  requireNode();
  if (command.prepares) return prepare(command.packages, rest);
  const isForUnits = name === "test" && isUnitOnly(rest);
  if (isWritable()) {
    await install();
    const filter = isForUnits ? ["--filter=@cloud-sandbox/server-kit"] : [];
    await step("Building what has changed", [bin("turbo"), "run", "build", ...filter]);
  } else console.log("This checkout belongs to another user: using it as it was built.");
  if (command.packages && !isForUnits) {
    const problems = await installOnHost(command.packages, step);
    await requireSandboxes(command.sandboxes, problems);
  }
  // What fails is said, and the demo goes on without the program that needs it. Containers have packages of their own.
  if (command.setsUp && canInstall() && sandboxObstacle() === undefined)
    await run([process.execPath, local, "setup"], { stdio: ["ignore", "ignore", "inherit"] });
  return command.run ? run([...command.run, ...rest]) : 0;
}

/** Installs what the tests need on this machine, and with "--kubernetes" also a cluster's programs. Runs no test. */
async function prepare(packages, args) {
  const unknown = args.find((arg) => arg !== "--kubernetes");
  if (unknown) throw new Refusal(`"${unknown}" is unknown. Usage: npm run setup [-- --kubernetes]`);
  const withCluster = args.length > 0;
  const problems = [
    ...(await installOnHost(packages, step)),
    ...(withCluster ? await setUpKubernetes(step) : []),
  ];
  if (problems.length > 0) throw new Refusal(problems.join("\n"));
  return 0;
}

/** Whether only tests of the source are asked for. They start no sandbox, and need no build but the validators. */
function isUnitOnly(args) {
  const projects = args.flatMap((arg, index) => {
    if (arg === "--project") return [args[index + 1]];
    return arg.startsWith("--project=") ? [arg.slice("--project=".length)] : [];
  });
  return projects.length > 0 && projects.every((project) => project === "unit" || project === "isolated");
}

function requireNode() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    throw new Refusal(`Node ${process.versions.node} is too old: install Node 20.19 or newer.`);
  }
}

/** Whether this user can change the checkout. What another user has built there can be used all the same. */
function isWritable() {
  try {
    accessSync(join(root, "packages", "protocol"), constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Installs from the lockfile, with pnpm as the first time has installed it. Does nothing if nothing has changed. */
async function install() {
  const pnpm = existsSync(bin("pnpm")) ? [bin("pnpm")] : ["npx", "-y", "pnpm@10.34.9"];
  await step("Installing dependencies", [...pnpm, "install", "--frozen-lockfile"]);
}

/**
 * Throws or prints, depending on `need`, why no sandbox can be started here. Prints what else could not be installed.
 */
async function requireSandboxes(need, problems) {
  const obstacle = sandboxObstacle();
  if (obstacle) {
    // Docker is enough for the demo.
    const hasDocker = need === "of any runtime" && succeeds([process.execPath, local, "doctor"]);
    if (need !== "wanted" && !hasDocker) throw new Refusal([...problems, obstacle].join("\n"));
    if (need === "wanted") problems.push(`${obstacle}.\nThe tests that start sandboxes are skipped.`);
  }
  if (need === "wanted") for (const problem of problems) console.error(problem);
}

/** Runs a command that prepares something, and prints its title. Throws with its whole output if it fails. */
async function step(title, command) {
  if (stoppedBy) throw new Refusal("");
  console.log(title);
  const said = [];
  const env = { ...process.env, CI: "true", DEBIAN_FRONTEND: "noninteractive" };
  const status = await run(command, { env, stdio: ["ignore", "pipe", "pipe"], said });
  if (status !== 0) throw new Refusal(`${title} failed.\n${Buffer.concat(said)}`);
}

/** Runs a command to its end. Resolves with its exit status. */
function run([file, ...args], { said, ...options } = {}) {
  if (stoppedBy) throw new Refusal("");
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { cwd: root, stdio: "inherit", ...options });
    children.add(child);
    for (const stream of said ? [child.stdout, child.stderr] : [])
      stream.on("data", (chunk) => said.push(chunk));
    child.on("error", (error) => reject(new Refusal(`${file} cannot be started: ${error.message}`)));
    child.on("close", (status, signal) => {
      children.delete(child);
      resolve(status ?? (signal ? 1 : 0));
    });
  });
}

/** Sends a signal to all commands that run, and SIGKILL to those that have not ended after five seconds. */
function stop(signal) {
  stoppedBy = signal;
  for (const child of children) child.kill(signal);
  setTimeout(() => {
    for (const child of children) child.kill("SIGKILL");
  }, 5000).unref();
}

function succeeds([file, ...args]) {
  return spawnSync(file, args, { stdio: "ignore" }).status === 0;
}

function bin(name) {
  return join(root, "node_modules", ".bin", name);
}
