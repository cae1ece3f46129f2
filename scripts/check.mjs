#!/usr/bin/env node
// Every check that is not a test, side by side; all are run even when one fails.
//   node scripts/check.mjs [name…]    exit 1 when any failed
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const pnpm = ["npx", "-y", "pnpm@10.34.9"];
const packages = readdirSync(join(root, "packages")).sort();
const projects = [".", ...packages.map((name) => `packages/${name}`), "packages/mcp/view"];

/** TypeScript's native compiler checks in a fifth of the time. Tools that use the compiler as a library need the other one. */
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

/** Commands that may run at the same time, and those that wait for one of them to end. */
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

/** Holds the Python programs that packages carry to the rules of ruff.toml. */
function python() {
  return run("node", "scripts/check-python.mjs");
}

/** Holds the contracts against the vendor's documents, where those are at hand. */
function wire() {
  const script = join(root, "..", "shared", "check-wire.mjs");
  return existsSync(script) ? run("node", script) : nothing;
}

/** Packs every package that is published and looks at the tarball as its users will get it. */
async function packageShapes() {
  const folder = mkdtempSync(join(tmpdir(), "cloud-sandbox-pack-"));
  const published = packages.filter((name) => !manifest(name).private);
  const filters = published.flatMap((name) => ["--filter", `./packages/${name}`]);
  const look = (name) => {
    const tarball = join(folder, `${manifest(name).name}-${manifest(name).version}.tgz`);
    return atOnce([tool("publint", "run", "--strict", tarball), types(name, tarball)]);
  };
  try {
    return await inTurn(run(...pnpm, "--recursive", ...filters, "pack", "--pack-destination", folder), () =>
      atOnce(published.map(look)),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * Whether a package's types resolve as its code does; there is nothing to resolve in one that is only a command. How it was
 * done before Node.js knew `exports` is left out: that finds the root alone. So is `main`: it is a program, which has no types.
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

/** Joins the results of steps that run at the same time into one result, which names all failures. */
async function atOnce(steps) {
  const results = await Promise.all(steps);
  const failed = results.filter(({ passed }) => !passed);
  return {
    passed: failed.length === 0,
    output: failed.map(({ output }) => output).join("\n"),
    seconds: results.reduce((sum, { seconds }) => sum + seconds, 0),
  };
}

/** The result of a step that is under way and of the next one, which is not taken if the first fails. */
async function inTurn(first, next) {
  const result = await first;
  return result.passed ? atOnce([result, next()]) : result;
}

function tool(name, ...args) {
  return run(join(root, "node_modules", ".bin", name), ...args);
}

/** Runs a command once there is room for it. Its result tells how long it ran. */
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
