import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Options } from "tsup";

type Plugin = NonNullable<Options["esbuildPlugins"]>[number];

/**
 * A plugin for esbuild: an import with `?raw` gives the text of the file, as it does in Vite and Vitest without a
 * plugin.
 */
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
