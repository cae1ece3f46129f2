import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const script = fileURLToPath(new URL("../check-imports.mjs", import.meta.url));

/**
 * Runs the check on files, given by their paths below packages/. Returns its exit code and the lines that name a fault.
 */
function check(files) {
  const root = mkdtempSync(join(tmpdir(), "imports-"));
  try {
    for (const [path, text] of Object.entries(files)) {
      const file = join(root, "packages", path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, `${text}\n`);
    }
    mkdirSync(join(root, "node_modules"));
    symlinkSync("../packages/mcp", join(root, "node_modules", "cloud-sandbox-mcp"));
    const { status, stderr } = spawnSync(process.execPath, [script, root], { encoding: "utf8", cwd: root });
    return { status, faults: stderr.split("\n").filter((line) => /^ *error |computes/.test(line)) };
  } finally {
    rmSync(root, { recursive: true });
  }
}

const sound = {
  "client/src/errors/errors.ts": "export class SandboxError extends Error {}",
  "client/src/transport/channel.ts": 'export { SandboxError } from "../errors/errors.js";',
  "client/src/index.ts": 'export * from "./transport/channel.js"; import "@cloud-sandbox/protocol";',
  "client/src/testing/index.ts": 'import "@cloud-sandbox/server-kit/portable";',
  "server-kit/src/index.ts": 'import "@cloud-sandbox/protocol"; import { Hono } from "hono";',
  "mcp/package.json": '{ "main": "src/main.ts" }',
  "mcp/src/main.ts": 'import "cloud-sandbox"; export const serve = 1;',
  "cli/src/main.ts": 'export const load = () => import("cloud-sandbox-mcp");',
  "cli/src/types.ts": 'export type { A } from "cloud-sandbox-mcp";',
};

test("packages whose imports all follow the rules pass", { timeout: 120_000 }, () => {
  expect(check(sound)).toEqual({ status: 0, faults: [] });
});

/** The first word of each expected fault, the file of the fault, and its content. */
const planted = [
  ["file circle", "agent/src/a.ts", 'import type { B } from "./b.js"; export interface A { b: B }'],
  ["", "agent/src/b.ts", 'import type { A } from "./a.js"; export interface B { a: A }'],
  ["folder circle", "agent/src/one/a.ts", 'import { c } from "../two/c.js"; export const a = c;'],
  ["", "agent/src/one/b.ts", "export const b = 1;"],
  ["", "agent/src/two/c.ts", "export const c = 1;"],
  ["folder circle", "agent/src/two/d.ts", 'import { b } from "../one/b.js"; export const d = b;'],
  [
    "wrong arrow (client/transport: may not import a folder above it)",
    "client/src/transport/up.ts",
    'import type { B } from "../config/b.js"; export type A = B;',
  ],
  ["", "client/src/config/b.ts", "export interface B {}"],
  ["wrong arrow (client: may not", "client/src/errors/a.ts", 'export * from "cloud-sandbox-local";'],
  ["wrong arrow (client: may not", "client/src/errors/b.ts", 'import "cloud-sandbox-local/anything";'],
  ["wrong arrow (client: may not", "client/src/errors/c.ts", 'type L = import("cloud-sandbox-local").L;'],
  ["wrong arrow (client: may not", "client/src/errors/d.ts", 'import type { L } from "cloud-sandbox-local";'],
  ["wrong arrow (client: may not", "client/src/errors/e.ts", 'const l = require("cloud-sandbox-local");'],
  [
    "wrong arrow (client: imports the server",
    "client/src/errors/f.ts",
    'import "@cloud-sandbox/server-kit";',
  ],
  ["wrong arrow (protocol: may not", "protocol/src/a.ts", 'import "@cloud-sandbox/server-kit";'],
  ["wrong arrow (mcp: may not", "mcp/src/a.ts", 'export const load = () => import("cloud-sandbox-cli");'],
  ["wrong arrow (cli: imports mcp", "cli/src/a.ts", 'export { serve } from "cloud-sandbox-mcp";'],
  ["wrong arrow (every package", "local/src/a.ts", 'import { b } from "../../protocol/src/b.js"; b;'],
  ["", "protocol/src/b.ts", "export const b = 1;"],
  ["computes", "client/src/errors/g.ts", "export const load = (name: string) => import(name);"],
];

test("each planted fault is named", { timeout: 120_000 }, () => {
  const { status, faults } = check({
    ...sound,
    ...Object.fromEntries(planted.map(([, file, text]) => [file, text])),
  });
  expect(status).toBe(1);
  const expected = planted.filter(([fault]) => fault !== "");
  for (const [fault, file] of expected) {
    const place = fault === "folder circle" ? dirname(file) : file;
    expect(faults.filter((line) => line.includes(`${place} `) && line.includes(fault))).toHaveLength(1);
  }
  expect(faults).toHaveLength(expected.length);
});
