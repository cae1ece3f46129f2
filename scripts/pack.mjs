// Packs every package that is published into tarballs that install together:
//   npm run pack [-- DIRECTORY]     default: tarballs
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const destination = resolve(process.argv[2] ?? join(root, "tarballs"));

mkdirSync(destination, { recursive: true });
// Those of another version would be installed beside these.
for (const name of readdirSync(destination)) if (name.endsWith(".tgz")) rmSync(join(destination, name));

for (const folder of readdirSync(join(root, "packages"))) {
  const home = join(root, "packages", folder);
  const { private: isPrivate } = JSON.parse(readFileSync(join(home, "package.json"), "utf8"));
  if (isPrivate) continue;
  const args = ["-y", "pnpm@10.34.9", "pack", "--pack-destination", destination];
  const { status, stdout, stderr } = spawnSync("npx", args, { cwd: home, encoding: "utf8" });
  if (status !== 0) {
    console.error(`${folder} cannot be packed.\n${stdout}${stderr}`);
    process.exit(1);
  }
}

const tarballs = readdirSync(destination).filter((name) => name.endsWith(".tgz"));
for (const name of tarballs) console.log(join(destination, name));
console.error(`Install them together: npm install ${join(basename(destination), "*.tgz")}`);
