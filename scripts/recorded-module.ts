import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Options } from "tsup";

type Plugin = NonNullable<Options["esbuildPlugins"]>[number];

/** A plugin for esbuild: a module is run when it is built, and what it exports as JSON stands in for it. */
export function recordedModule(filter: RegExp): Plugin {
  return {
    name: "recorded-module",
    setup(build) {
      build.onLoad({ filter }, async ({ path }) => {
        const { alias, banner } = build.initialOptions;
        const { outputFiles } = await build.esbuild.build({
          entryPoints: [path],
          bundle: true,
          format: "esm",
          platform: "node",
          write: false,
          ...(alias && { alias }),
          ...(banner && { banner }),
        });
        const exported = Object.entries(await run(outputFiles[0]?.text ?? ""));
        const lines = exported.map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};`);
        return { contents: lines.join("\n"), loader: "js" };
      });
    },
  };
}

async function run(program: string): Promise<Record<string, unknown>> {
  const directory = await mkdtemp(join(tmpdir(), "recorded-module-"));
  try {
    const file = join(directory, "module.mjs");
    await writeFile(file, program);
    return (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  } finally {
    await rm(directory, { recursive: true });
  }
}
