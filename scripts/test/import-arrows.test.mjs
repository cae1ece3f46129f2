import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { brokenArrows } from "../import-arrows.mjs";

let root;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "arrows-"));
});
afterEach(() => rmSync(root, { recursive: true }));

/** Runs the check over a house whose only file is `packages/<owner>/src/<folder>/file.ts`. */
function check(owner, text, folder = "nested") {
  const file = join(root, "packages", owner, "src", folder, "file.ts");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `// The first line.\n${text}\n`);
  return brokenArrows(root);
}

const packages = {
  protocol: "@cloud-sandbox/protocol",
  "server-kit": "@cloud-sandbox/server-kit",
  client: "cloud-sandbox",
  agent: "cloud-sandbox-agent",
  local: "cloud-sandbox-local",
  mcp: "cloud-sandbox-mcp",
  cli: "cloud-sandbox-cli",
};
const free = [
  "server-kit protocol",
  ...["client protocol", "agent protocol", "agent server-kit", "local protocol", "local server-kit"],
  ...["mcp client", "cli client"],
];
const lazy = ["cli mcp"];
const pairs = Object.keys(packages).flatMap((owner) =>
  Object.keys(packages)
    .filter((target) => target !== owner)
    .map((target) => `${owner} ${target}`),
);

test.each(pairs)("%s, imported when the file loads", (pair) => {
  const [owner, target] = pair.split(" ");
  const line = expect.stringMatching(
    `^packages/${owner}/src/nested/file.ts:2 imports "${packages[target]}": `,
  );
  expect(check(owner, `import { x } from "${packages[target]}";`)).toEqual(free.includes(pair) ? [] : [line]);
});

test.each(pairs)("%s, imported lazily", (pair) => {
  const [owner, target] = pair.split(" ");
  const broken = check(owner, `export const load = () => import("${packages[target]}");`);
  expect(broken).toHaveLength(free.includes(pair) || lazy.includes(pair) ? 0 : 1);
});

test.each([
  ["client", 'export * from "cloud-sandbox-local";', 1],
  ["client", 'import "cloud-sandbox-local/anything";', 1],
  ["client", 'type Local = import("cloud-sandbox-local").Local;', 1],
  ["client", 'import type { Local } from "cloud-sandbox-local";', 1],
  ["client", 'const local = require("cloud-sandbox-local");', 1],
  ["cli", 'export { serve } from "cloud-sandbox-mcp";', 1],
  ["cli", 'import type { Server } from "cloud-sandbox-mcp";', 0],
  ["client", "const local = await import(name);", 1],
  ["local", 'import { main } from "../../../agent/src/main.js";', 1],
  ["local", 'import { main } from "../../../local-other/src/main.js";', 1],
  ["local", 'export const load = () => import("../../../agent/dist/main.js");', 1],
  ["local", 'import own from "../../package.json" with { type: "json" };', 0],
  ["local", 'import { helper } from "../helper.js";', 0],
  ["local", 'import { Hono } from "hono";', 0],
  ["protocol", 'import { z } from "zod";', 0],
])("in %s, %s breaks %i", (owner, text, count) => {
  expect(check(owner, text)).toHaveLength(count);
});

test("the client's testing service alone may import the server kit", () => {
  const text = 'import { Problem } from "@cloud-sandbox/server-kit/portable";';
  expect(check("client", text, "testing/agent")).toEqual([]);
  expect(check("client", text, "testing-more")).toEqual([
    expect.stringContaining("client may import server-kit only below src/testing."),
  ]);
});
