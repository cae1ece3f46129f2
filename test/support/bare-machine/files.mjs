/**
 * Prints the test files that name, themselves or in what they import, a program or a library that a bare machine lacks: so also those
 * that do not say that they need it.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const named =
  /\b(curl|wget|tmux|pip3?|ipython|matplotlib|pandas|pgrep|pkill|java|chromium|mmdebstrap|skopeo|prometheus|gcc|xxd)\b|"(go|ps|make|libatomic1)"|\bps -/i;

const files = execFileSync("git", ["ls-files", "*.test.ts"], { encoding: "utf8" }).trim().split("\n");
// The tests of containers and clusters are skipped there as a whole.
const others = files.filter((file) => !/\.(docker|kubernetes)\.test\.ts$/.test(file));
console.log(others.filter((file) => names(file, new Set())).join("\n"));

function names(file, seen) {
  if (seen.has(file) || !existsSync(file)) return false;
  seen.add(file);
  const text = readFileSync(file, "utf8");
  if (named.test(text)) return true;
  return [...text.matchAll(/from "(\.[^"]+)\.js"/g)]
    .map(([, path]) => join(dirname(file), `${path}.ts`))
    .some((path) => !path.includes("/src/") && names(path, seen));
}
