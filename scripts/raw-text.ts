import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Plugin as RolldownPlugin } from "rolldown";
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

/** The same plugin for rolldown. */
export function rawTextOf(): RolldownPlugin {
  const suffix = "?raw";
  return {
    name: "raw-text",
    resolveId: (id, importer) =>
      id.endsWith(suffix) && importer !== undefined ? join(dirname(importer), id) : null,
    load: async (id) =>
      id.endsWith(suffix)
        ? { code: await readFile(id.slice(0, -suffix.length), "utf8"), moduleType: "text" }
        : null,
  };
}
