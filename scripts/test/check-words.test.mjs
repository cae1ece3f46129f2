import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const script = fileURLToPath(new URL("../check-words.mjs", import.meta.url));

/** Runs the check on files, given by their paths and texts. Returns its exit code and what it prints. */
function check(files) {
  const root = mkdtempSync(join(tmpdir(), "words-"));
  try {
    execFileSync("git", ["init", "--quiet"], { cwd: root });
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    const { status, stderr } = spawnSync(process.execPath, [script, root], { encoding: "utf8" });
    return { status, faults: stderr.split("\n").filter(Boolean) };
  } finally {
    rmSync(root, { recursive: true });
  }
}

test("texts without dead words pass, and so do code of tests and generated files", () => {
  expect(
    check({
      "packages/local/src/a.ts": "// Configures firewalls in place of others.\nconst path = 1;\n",
      "packages/local/src/generated/b.ts": "export const wall = 1;\n",
      "packages/local/test/c.test.ts": 'test("is isolated", () => { const wall = 1; });\n',
      "docs/guides/d.md": "Egress is logged.\n",
    }),
  ).toEqual({ status: 0, faults: [] });
});

test.each([
  ["a comment", "packages/local/src/a.ts", "// The walls hold.\n", "1", "wall"],
  ["a part of a name", "packages/local/src/a.ts", "\nexport const wayOut = 1;\n", "2", "way out"],
  ["a whole name", "packages/local/src/a.ts", "class A {\n  #place = 1;\n}\n", "2", "place"],
  ["a parameter", "packages/local/src/a.ts", "export const f = (given: string) => given;\n", "1", "given"],
  ["a contract", "openapi/agent.yaml", "description: The road\n", "1", "road"],
  ["a page", "docs/guides/b.md", "Saves figures.\n", "1", "figure"],
  ["the name of a test", "test/a.test.ts", 'test("finds a way out", () => {});\n', "1", "way out"],
  ["the name of a case", "test/a.test.ts", 'test.each([1])("%s passes the door", () => {});\n', "1", "door"],
  ["a name in a line of its own", "test/a.test.ts", 'test(\n  "holds the wall",\n  f,\n);\n', "2", "wall"],
])("names a dead word in %s", (_, file, text, line, word) => {
  const { status, faults } = check({ [file]: text });
  expect(status).toBe(1);
  expect(faults).toEqual([expect.stringMatching(`^${file}:${line} says "${word}": use .+\\.$`)]);
});
