import { createRequire } from "node:module";
import { dirname } from "node:path";
import type { Options } from "tsup";

type Plugin = NonNullable<Options["esbuildPlugins"]>[number];

/**
 * A plugin for esbuild: a CommonJS package that is imported later, from a file of its own, keeps the names of its
 * exports. Without it there is only the default one.
 */
export function lazyCommonJs(filter: RegExp): Plugin {
  const namespace = "lazy-commonjs";
  return {
    name: namespace,
    setup(build) {
      build.onResolve({ filter }, async ({ path, kind, resolveDir }) => {
        if (kind !== "dynamic-import") return undefined;
        const found = await build.resolve(path, { kind: "require-call", resolveDir });
        return { ...found, namespace };
      });
      build.onLoad({ filter: /./, namespace }, ({ path }) => {
        const names = Object.keys(createRequire(path)(path)).filter((name) =>
          /^[A-Za-z_$][\w$]*$/.test(name),
        );
        const contents = `import all from ${JSON.stringify(path)};\nexport const { ${names.join(", ")} } = all;`;
        return { contents, resolveDir: dirname(path) };
      });
    },
  };
}
