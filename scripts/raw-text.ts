import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Options } from "tsup";

type Plugin = NonNullable<Options["esbuildPlugins"]>[number];

/** A plugin for esbuild: a module that is imported with `?raw` is its text, as it is under Vite and Vitest by themselves. */
export function rawText(): Plugin {
  const namespace = "raw-text";
  return {
    name: namespace,
    setup(build) {
      build.onResolve({ filter: /\?raw$/ }, ({ path, resolveDir }) => ({
        path: join(resolveDir, path.slice(0, -"?raw".length)),
        namespace,
      }));
      build.onLoad({ filter: /./, namespace }, async ({ path }) => ({
        contents: await readFile(path, "utf8"),
        loader: "text",
        watchFiles: [path],
      }));
    },
  };
}
