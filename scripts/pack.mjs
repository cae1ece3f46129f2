// Packs all packages that are published into tarballs, to be installed together:
//   npm run pack [-- DIRECTORY]     default: tarballs
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const destination = resolve(process.argv[2] ?? join(root, "tarballs"));

try {
  mkdirSync(destination, { recursive: true });
  // Remove older tarballs, because `npm install tarballs/*.tgz` would install them too.
  for (const name of readdirSync(destination)) if (name.endsWith(".tgz")) rmSync(join(destination, name));
} catch ({ code }) {
  console.error(
    `Tarballs cannot be written to ${destination} (${code}). Name another: npm run pack -- DIRECTORY`,
  );
  process.exit(1);
}

const isPublished = (folder) =>
  !JSON.parse(readFileSync(join(root, "packages", folder, "package.json"), "utf8")).private;
const published = readdirSync(join(root, "packages")).filter(isPublished);
const filters = published.flatMap((folder) => ["--filter", `./packages/${folder}`]);
// Pack all packages by one command, because pnpm takes longer to start than to pack a package.
const args = ["--recursive", ...filters, "pack", "--pack-destination", destination];
const { status, stdout, stderr } = spawnSync(join(root, "node_modules/.bin/pnpm"), args, {
  cwd: root,
  encoding: "utf8",
});
if (status !== 0) {
  console.error(`The packages cannot be packed.\n${stdout}${stderr}`);
  process.exit(1);
}

const tarballs = readdirSync(destination).filter((name) => name.endsWith(".tgz"));
for (const name of tarballs) console.log(join(destination, name));
console.error(`Install them together: npm install ./${join(basename(destination), "*.tgz")}`);
