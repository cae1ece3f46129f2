#!/usr/bin/env node
// Every check that is not a test, in this order; all are run even when one fails.
//   node scripts/check.mjs [name…]    exit 1 when any failed
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const pnpm = ["npx", "-y", "pnpm@10.34.9"];
const packages = readdirSync(join(root, "packages")).sort();
const projects = [".", ...packages.map((name) => `packages/${name}`), "packages/mcp/view"];

const checks = [
  ["style", () => all([() => tool("biome", "check", "--error-on-warnings"), python])],
  [
    "types",
    () =>
      all(
        projects.map((project) => () => tool("tsc", "--project", project)),
        2,
      ),
  ],
  ["contracts", () => all([() => tool("redocly", "lint"), wire])],
  ["generated", () => run("node", "scripts/generate.mjs", "--check")],
  ["imports", () => run("node", "scripts/check-imports.mjs")],
  ["docs", () => tool("typedoc", "--options", "typedoc.config.mjs", "--emit", "none")],
  ["packages", packageShapes],
  ["size", () => all([() => run("node", "scripts/bundle-client.mjs"), () => tool("size-limit")])],
  ["unused", () => tool("knip")],
];

const chosen = process.argv.slice(2);
const unknown = chosen.filter((name) => !checks.some(([known]) => known === name));
if (unknown.length > 0) {
  console.error(
    `No check is called ${unknown.join(", ")}. There are: ${checks.map(([name]) => name).join(", ")}.`,
  );
  process.exit(1);
}

for (const [name, check] of checks.filter(([known]) => chosen.length === 0 || chosen.includes(known))) {
  const started = performance.now();
  const { passed, output } = await check();
  console.log(
    `${passed ? "✓" : "✗"} ${name.padEnd(10)} ${((performance.now() - started) / 1000).toFixed(1)} s`,
  );
  if (!passed) {
    console.log(output.trim().replace(/^/gm, "    "));
    process.exitCode = 1;
  }
}

/** Holds the Python programs that packages carry to the rules of ruff.toml. */
function python() {
  return run("node", "scripts/check-python.mjs");
}

/** Holds the contracts against the vendor's documents, where those are at hand. */
function wire() {
  const script = join(root, "..", "shared", "check-wire.mjs");
  return existsSync(script) ? run("node", script) : { passed: true, output: "" };
}

/** Packs every package that is published and looks at the tarball as its users will get it. */
async function packageShapes() {
  const folder = mkdtempSync(join(tmpdir(), "cloud-sandbox-pack-"));
  try {
    const published = packages.filter((name) => !manifest(name).private);
    return await all(
      published.map((name) => async () => {
        const packed = await run(...pnpm, "--dir", `packages/${name}`, "pack", "--pack-destination", folder);
        if (!packed.passed) return packed;
        const tarball = join(folder, `${manifest(name).name}-${manifest(name).version}.tgz`);
        return all([() => tool("publint", "run", "--strict", tarball), () => types(name, tarball)]);
      }),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * Whether a package's types resolve as its code does; there is nothing to resolve in one that is only a command. How it was
 * done before Node.js knew `exports` is left out: that finds the root alone.
 */
function types(name, tarball) {
  const main = manifest(name).exports["."];
  if (!main) return { passed: true, output: "" };
  return tool(
    "attw",
    tarball,
    "--format",
    "table-flipped",
    "--profile",
    main.require ? "node16" : "esm-only",
  );
}

function manifest(name) {
  return JSON.parse(readFileSync(join(root, "packages", name, "package.json"), "utf8"));
}

/** Takes every step, `width` at a time; what failed is told together. */
async function all(steps, width = 1) {
  const results = new Array(steps.length);
  const rest = steps.entries();
  const worker = async () => {
    for (const [index, step] of rest) results[index] = await step();
  };
  await Promise.all(Array.from({ length: width }, worker));
  const failed = results.filter(({ passed }) => !passed);
  return { passed: failed.length === 0, output: failed.map(({ output }) => output).join("\n") };
}

function tool(name, ...args) {
  return run(join(root, "node_modules", ".bin", name), ...args);
}

function run(file, ...args) {
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
