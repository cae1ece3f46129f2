// Builds all packages, and after each change of a source file those that are out of date: npm run dev
import { spawn } from "node:child_process";
import { watch } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const settleMs = 200;
let settling;
let isBuilding = false;
let isStale = false;

function build() {
  if (isBuilding) {
    isStale = true;
    return;
  }
  isBuilding = true;
  const began = performance.now();
  const child = spawn(process.execPath, ["scripts/bootstrap.mjs", "build"], { cwd: root, stdio: "inherit" });
  child.on("exit", (code) => {
    isBuilding = false;
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    console.log(
      code === 0 ? `Built in ${seconds} s; waiting for changes.` : "The build failed; waiting for changes.",
    );
    if (isStale) {
      isStale = false;
      build();
    }
  });
}

for (const folder of ["packages", "openapi"])
  watch(join(root, folder), { recursive: true }, (_, name) => {
    if (!name || /(^|\/)(dist|node_modules|test|generated)(\/|$)/.test(name)) return;
    clearTimeout(settling);
    settling = setTimeout(build, settleMs);
  });
build();
