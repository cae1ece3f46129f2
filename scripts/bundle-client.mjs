// Bundles and minifies the built client as applications do, for size-limit, which checks the sizes (limits: package.json):
//   at-once   what a program that creates a sandbox and executes code loads at its start
//   in-all    that, and what these two calls load later on Node.js
//   whole     everything that the client exports
import { copyFileSync, mkdirSync, rmSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const client = "./packages/client/dist/index.js";
const cache = join(root, "node_modules", ".cache", "client-size");

const minimal = await bundle(
  "minimal",
  `import { SandboxClient } from "${client}";
const sandbox = await new SandboxClient().sandboxes.create({ timeoutSeconds: 60 });
console.log((await sandbox.execute("print(42)")).stdout);`,
);
const [entry] = Object.keys(minimal).filter((name) => minimal[name].entryPoint === "<stdin>");
const atOnce = loadedWith(minimal, [entry]);
const calls = Object.keys(minimal).filter((name) => /\/sandbox-parts-/.test(minimal[name].entryPoint ?? ""));
gather("at-once", atOnce);
gather("in-all", loadedWith(minimal, [entry, ...calls]));
gather("whole", Object.keys(await bundle("everything", `export * from "${client}";`)));

/** Bundles a program. Resolves with the files of the bundle. */
async function bundle(name, contents) {
  const outdir = join(cache, name);
  rmSync(outdir, { recursive: true, force: true });
  const { metafile } = await build({
    stdin: { contents, resolveDir: root },
    absWorkingDir: root,
    bundle: true,
    minify: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    external: ["undici"],
    outdir,
    metafile: true,
  });
  return metafile.outputs;
}

/** Files of a bundle, and all files that they import statically. */
function loadedWith(outputs, files) {
  const found = new Set(files);
  for (const file of found)
    for (const { external, kind, path } of outputs[file].imports)
      if (kind === "import-statement" && !external) found.add(path);
  return [...found];
}

function gather(name, files) {
  const folder = join(cache, name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const file of files) copyFileSync(join(root, file), join(folder, basename(relative(root, file))));
}
