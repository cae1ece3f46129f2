#!/usr/bin/env node
// Runs all checks that are not tests, or those named, at the same time. One that fails does not end the others.
//   node scripts/check.mjs [name…]    the exit code is 1 if any check failed
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const packages = readdirSync(join(root, "packages")).sort();
const projects = [".", ...packages.map((name) => `packages/${name}`), "packages/mcp/view"];

/**
 * TypeScript's native compiler needs a fifth of the time. The other compiler is installed too, for tools that use it as
 * a library.
 */
const nativeCompiler = "node_modules/typescript-native/bin/tsc";

const checks = [
  ["style", () => atOnce([tool("biome", "check", "--error-on-warnings"), python()])],
  ["types", () => atOnce(projects.map((project) => run("node", nativeCompiler, "--project", project)))],
  ["contracts", () => atOnce([tool("redocly", "lint"), wire()])],
  ["generated", () => run("node", "scripts/generate.mjs", "--check")],
  ["imports", () => run("node", "scripts/check-imports.mjs")],
  ["docs", () => tool("typedoc", "--options", "typedoc.config.mjs", "--emit", "none")],
  ["packages", packageShapes],
  ["size", () => inTurn(run("node", "scripts/bundle-client.mjs"), () => tool("size-limit"))],
  ["unused", () => tool("knip")],
  ["words", () => run("node", "scripts/check-words.mjs")],
];

const nothing = { passed: true, output: "", seconds: 0 };

const chosen = process.argv.slice(2);
const unknown = chosen.filter((name) => !checks.some(([known]) => known === name));
if (unknown.length > 0) {
  console.error(
    `No check is called ${unknown.join(", ")}. There are: ${checks.map(([name]) => name).join(", ")}.`,
  );
  process.exit(1);
}

/** The number of commands that may still be started, and the functions that start those that have to wait. */
let free = availableParallelism();
const waiting = [];

await Promise.all(
  checks
    .filter(([name]) => chosen.length === 0 || chosen.includes(name))
    .map(async ([name, check]) => {
      const { passed, output, seconds } = await check();
      console.log(`${passed ? "✓" : "✗"} ${name.padEnd(10)} ${seconds.toFixed(1)} s`);
      if (passed) return;
      console.log(output.trim().replace(/^/gm, "    "));
      process.exitCode = 1;
    }),
);

/** Checks the Python programs that packages contain, by the rules of ruff.toml. */
function python() {
  return run("node", "scripts/check-python.mjs");
}

/** Compares the contracts with the vendor's documents. Does nothing where those documents are missing. */
function wire() {
  const script = join(root, "..", "shared", "check-wire.mjs");
  return existsSync(script) ? run("node", script) : nothing;
}

/** Packs every package that is published, and checks the tarballs. */
async function packageShapes() {
  const folder = mkdtempSync(join(tmpdir(), "cloud-sandbox-pack-"));
  const published = packages.filter((name) => !manifest(name).private);
  const filters = published.flatMap((name) => ["--filter", `./packages/${name}`]);
  const look = (name) => {
    const tarball = join(folder, `${manifest(name).name}-${manifest(name).version}.tgz`);
    return atOnce([tool("publint", "run", "--strict", tarball), types(name, tarball)]);
  };
  try {
    return await inTurn(tool("pnpm", "--recursive", ...filters, "pack", "--pack-destination", folder), () =>
      atOnce(published.map(look)),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * Checks that TypeScript finds the types of a package wherever Node.js finds its code. A package that is only a command
 * has no types. The entry point `main` is left out because it is a program, and so is the resolution of TypeScript
 * before Node.js knew `exports`, because it finds only the root.
 */
function types(name, tarball) {
  const main = manifest(name).exports["."];
  if (!main) return nothing;
  return tool(
    "attw",
    tarball,
    "--format",
    "table-flipped",
    ...(manifest(name).exports["./main"] ? ["--exclude-entrypoints", "main"] : []),
    "--profile",
    main.require ? "node16" : "esm-only",
  );
}

function manifest(name) {
  return JSON.parse(readFileSync(join(root, "packages", name, "package.json"), "utf8"));
}

/** Waits for steps that run at the same time. Resolves with one result that contains the output of all that failed. */
async function atOnce(steps) {
  const results = await Promise.all(steps);
  const failed = results.filter(({ passed }) => !passed);
  return {
    passed: failed.length === 0,
    output: failed.map(({ output }) => output).join("\n"),
    seconds: results.reduce((sum, { seconds }) => sum + seconds, 0),
  };
}

/** Waits for a step, and then takes the next one unless the first has failed. Resolves with a result for both. */
async function inTurn(first, next) {
  const result = await first;
  return result.passed ? atOnce([result, next()]) : result;
}

function tool(name, ...args) {
  return run(join(root, "node_modules", ".bin", name), ...args);
}

/** Runs a command as soon as fewer run than there are processors. The result contains its run time. */
async function run(file, ...args) {
  if (free === 0) await new Promise((resolve) => waiting.push(resolve));
  else free -= 1;
  const started = performance.now();
  const result = await ended(file, args);
  const next = waiting.shift();
  if (next) next();
  else free += 1;
  return { ...result, seconds: (performance.now() - started) / 1000 };
}

function ended(file, args) {
  return new Promise((resolve) => {
    const env = {
      ...process.env,
      REDOCLY_TELEMETRY: "off",
      REDOCLY_SUPPRESS_UPDATE_NOTICE: "true",
      NO_COLOR: "1",
    };
    const child = spawn(file, args, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
    let output = `$ ${basename(file)} ${args.join(" ")}\n`;
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text) => {
        output += text;
      });
    }
    child.on("error", (error) => resolve({ passed: false, output: output + error.message }));
    child.on("close", (status) => resolve({ passed: status === 0, output }));
  });
}
