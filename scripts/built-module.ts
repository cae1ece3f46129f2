import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Options } from "tsup";

type Plugin = NonNullable<Options["esbuildPlugins"]>[number];

/**
 * A plugin for esbuild: modules whose path matches `filter` are run by the build, and the bundle has their exports as JSON.
 * The program that is bundled then loads neither the modules nor what they import.
 */
export function builtModule(filter: RegExp): Plugin {
  return {
    name: "built-module",
    setup(build) {
      build.onLoad({ filter }, async ({ path }) => {
        const { outputFiles } = await build.esbuild.build({
          entryPoints: [path],
          bundle: true,
          format: "esm",
          platform: "node",
          write: false,
          banner: build.initialOptions.banner ?? {},
        });
        const exported = Object.entries(await run(outputFiles[0]?.text ?? ""));
        // V8 reads JSON in a string faster than an object in the source.
        const text = (value: unknown): string => JSON.stringify(JSON.stringify(value));
        const lines = exported.map(([name, value]) => `export const ${name} = JSON.parse(${text(value)});`);
        return { contents: lines.join("\n"), loader: "js" };
      });
    },
  };
}

async function run(program: string): Promise<Record<string, unknown>> {
  const directory = await mkdtemp(join(tmpdir(), "built-module-"));
  try {
    const file = join(directory, "module.mjs");
    await writeFile(file, program);
    return (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  } finally {
    await rm(directory, { recursive: true });
  }
}
