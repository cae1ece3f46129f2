// Bundles the built client as applications do, minified, for size-limit to weigh (its limits are in package.json):
//   at-once   what a program that creates a sandbox and executes code in it loads when it starts
//   in-all    that, and what those two calls load on Node.js
//   whole     all there is
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
const calls = Object.keys(minimal).filter((name) =>
  /\/(http-calls|sandbox-parts)-/.test(minimal[name].entryPoint ?? ""),
);
gather("at-once", atOnce);
gather("in-all", loadedWith(minimal, [entry, ...calls]));
gather("whole", Object.keys(await bundle("everything", `export * from "${client}";`)));

/** Resolves with the files that the bundle of a program consists of. */
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

/** `files` and all that they import when they are loaded. */
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
