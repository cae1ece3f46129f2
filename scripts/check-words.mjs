#!/usr/bin/env node
// Finds words that docs/glossary.md lists as dead: in sources, contracts, pages, and names of tests.
//   node scripts/check-words.mjs [root]    prints every one of them; the exit code is 1 if there is any
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import ts from "typescript";

const root = resolve(process.argv[2] ?? join(import.meta.dirname, ".."));
const glossary = readFileSync(join(import.meta.dirname, "..", "docs", "glossary.md"), "utf8");
const dead = [
  ...glossary.split("## Dead words")[1].matchAll(/^\| ((?:name )?)([a-z ]+) \| (?!use \|)(.+) \|$/gm),
];
const uses = new Map(dead.map(([, , word, use]) => [word, use]));
const words = dead.filter(([, kind]) => kind === "").map(([, , word]) => word);
const names = new Set(dead.filter(([, kind]) => kind !== "").map(([, , word]) => word));
const pattern = new RegExp(`\\b(${words.join("|").replaceAll(" ", "s? ")})s?\\b`, "gi");

const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], { cwd: root })
  .toString()
  .split("\n")
  .filter((file) => !/(^|\/)generated\/|^docs\/glossary\.md$/.test(file) && existsSync(join(root, file)));

for (const file of files) {
  const isTest = /\.test\.m?ts$|^test\//.test(file);
  // Python's sources are left out because matplotlib calls a plot a figure.
  const isRead =
    /^packages\/[^/]+\/(src|view)\/.*\.([cm]?ts|cjs|pl)$|^(openapi|docs)\/.*\.(ya?ml|m?ts|md)$|^[^/]+\.md$/;
  if (!isTest && !isRead.test(file) && !/^packages\/[^/]+\/README\.md$/.test(file)) continue;
  const text = readFileSync(join(root, file), "utf8");
  const lines = isTest ? testNames(text) : text.split("\n");
  lines.forEach((line, index) => {
    for (const [, word] of separated(line).matchAll(pattern)) report(file, index, word.toLowerCase());
  });
  if (!isTest && file.endsWith(".ts"))
    reportNames(file, ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true));
}

/** Separates the words of names, as in `wayOut` and `WAY_OUT`. */
function separated(text) {
  return text.replace(/(?<=[a-z0-9])(?=[A-Z])|[_-]/g, " ");
}

/** The names of tests in the lines in which they end. All other lines are empty. */
function testNames(text) {
  const lines = text.split("\n").map(() => "");
  for (const match of text.matchAll(/(?:\b(?:test|it|describe)[\w.]*\(|\)\()\s*["`]([^"`]*)/g))
    lines[text.slice(0, match.index + match[0].length).split("\n").length - 1] += ` ${match[1]}`;
  return lines;
}

/** Reports names that are declared and are as a whole a dead word. */
function reportNames(file, node) {
  const name = node.name?.text?.replace("#", "");
  if (names.has(name))
    report(file, node.getSourceFile().getLineAndCharacterOfPosition(node.name.getStart()).line, name);
  ts.forEachChild(node, (child) => reportNames(file, child));
}

function report(file, index, word) {
  console.error(`${file}:${index + 1} says "${word}": use ${uses.get(word.replace("ways", "way"))}.`);
  process.exitCode = 1;
}
