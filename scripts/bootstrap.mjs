#!/usr/bin/env node
// Runs an npm script. First installs missing dependencies, and builds packages that are out of date.
//   node scripts/bootstrap.mjs demo|test|setup|check|bench|build|docs|pack [arguments of the command]
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { canInstall, sandboxObstacle, sandboxPackages, testPackages } from "./host-packages.mjs";
import { installOnHost, setUpKubernetes } from "./host-setup.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const pnpm = ["npx", "-y", "pnpm@10.34.9"];
const local = join(root, "packages", "local", "dist", "main.js");
const stamps = join(root, "node_modules", ".cache", "cloud-sandbox");

/**
 * The packages from which each package is built, besides its own source: from the source of `protocol` and
 * `server-kit`, and from the builds of the others.
 */
const buildsFrom = {
  protocol: [],
  "server-kit": ["protocol"],
  agent: ["server-kit"],
  client: ["server-kit"],
  local: ["server-kit", "agent"],
  mcp: ["server-kit", "client", "local", "mcp-runner"],
  "mcp-runner": ["server-kit", "client"],
  cli: ["server-kit", "client", "local", "mcp", "mcp-runner"],
};

/**
 * Packages that are built by a command of their own, with the files outside of their folder from which they are built.
 */
const ownBuilds = {
  "server-kit": {
    command: ["node", "scripts/build-validators.mjs"],
    madeFrom: ["openapi", "scripts/build-validators.mjs", "scripts/generator"],
  },
};

const notBuiltFrom = new Set(["dist", "node_modules", "test", "README.md"]);

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
  docs: { run: ["node", "scripts/build-site.mjs"] },
  pack: { run: ["node", "scripts/pack.mjs"] },
};

/** What the configurations of builds import. */
const plugins = readdirSync(join(root, "scripts"))
  .filter((file) => file.endsWith(".ts"))
  .map((file) => `scripts/${file}`);

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
  await install();
  const isForUnits = name === "test" && isUnitOnly(rest);
  await build(isForUnits ? ["server-kit"] : Object.keys(buildsFrom));
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

/** Installs from the lockfile. Does nothing if neither it nor a manifest has changed since the last time. */
async function install() {
  const manifests = readdirSync(join(root, "packages")).map((name) => `packages/${name}/package.json`);
  const wanted = digest(["package.json", "pnpm-lock.yaml", "pnpm-workspace.yaml", ...manifests]);
  if (wanted === stamp("install")) return;
  forget("install");
  await step("Installing dependencies", [...pnpm, "install", "--frozen-lockfile"]);
  stamp("install", wanted);
}

/** Builds those of these packages that are out of date, each after the packages from which it is built. */
async function build(names) {
  const builds = {};
  const start = (name) => {
    builds[name] ??= Promise.all(buildsFrom[name].map(start)).then((made) => buildPackage(name, made));
    return builds[name];
  };
  await Promise.all(names.map(start));
  names.forEach(linkCommands);
}

/**
 * Links the commands of a built package into `node_modules/.bin`, also by the name of the package: `npx cloud-sandbox-cli`
 * in this checkout then starts what was built here. pnpm cannot do that, because it installs before there is a build.
 */
function linkCommands(name) {
  const home = join(root, "packages", name);
  const { name: packageName, bin: commands = {} } = JSON.parse(
    readFileSync(join(home, "package.json"), "utf8"),
  );
  const [program] = Object.values(commands);
  if (program === undefined) return;
  for (const command of new Set([packageName, ...Object.keys(commands)])) {
    const target = relative(join(bin(command), ".."), join(home, program));
    // Changes nothing that is up to date, so that a user to whom the checkout does not belong can use what was built.
    if (linkedTo(bin(command)) === target) continue;
    rmSync(bin(command), { force: true });
    symlinkSync(target, bin(command));
  }
}

/** The target of a symbolic link. Undefined if there is no link. */
function linkedTo(path) {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? readlinkSync(path) : undefined;
}

/** Builds a package if its files, or what it is built from, have changed. Resolves with a digest of both. */
async function buildPackage(name, madeFrom) {
  const home = `packages/${name}`;
  const own = readdirSync(join(root, home)).filter((entry) => !notBuiltFrom.has(entry));
  const wanted = digest(
    [
      ...own.map((entry) => `${home}/${entry}`),
      ...(ownBuilds[name]?.madeFrom ?? []),
      ...["tsconfig.base.json", "pnpm-lock.yaml", ...plugins],
    ],
    madeFrom,
  );
  if (existsSync(join(root, home, "dist")) && wanted === stamp(name)) return wanted;
  forget(name);
  if (ownBuilds[name]) await step(`Building ${name}`, ownBuilds[name].command);
  else {
    // Where there are both, tsup adds the types, so it comes second.
    const tools = ["rolldown", "tsup"].filter((tool) => own.includes(`${tool}.config.ts`));
    if (tools.length === 0) return wanted;
    for (const tool of tools)
      await step(
        `Building ${name} with ${tool}`,
        [bin(tool), "--config", `${tool}.config.ts`],
        join(root, home),
      );
  }
  stamp(name, wanted);
  return wanted;
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
async function step(title, command, cwd = root) {
  if (stoppedBy) throw new Refusal("");
  console.log(title);
  const said = [];
  const env = { ...process.env, CI: "true", DEBIAN_FRONTEND: "noninteractive" };
  const status = await run(command, { cwd, env, stdio: ["ignore", "pipe", "pipe"], said });
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

function stamp(name, value) {
  const file = join(stamps, name);
  if (value === undefined) return existsSync(file) ? readFileSync(file, "utf8") : undefined;
  mkdirSync(stamps, { recursive: true });
  writeFileSync(file, value);
}

/** Removes a stamp before its step begins: an interrupted step leaves half of its files, and no stamp may vouch for them. */
function forget(name) {
  rmSync(join(stamps, name), { force: true });
}

/** A digest of the contents of files and folders. */
function digest(paths, more = []) {
  const hash = createHash("sha256");
  for (const path of paths.flatMap(filesOf))
    hash
      .update(`${path}\0`)
      .update(readFileSync(join(root, path)))
      .update("\0");
  for (const text of more) hash.update(text);
  return hash.digest("hex");
}

function filesOf(path) {
  const found = statSync(join(root, path), { throwIfNoEntry: false });
  if (!found?.isDirectory()) return found ? [path] : [];
  const entries = readdirSync(join(root, path), { withFileTypes: true });
  return entries.flatMap((entry) => filesOf(`${path}/${entry.name}`)).sort();
}
