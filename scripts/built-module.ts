import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build, type Plugin } from "rolldown";

/**
 * A plugin for rolldown. It runs modules whose path matches `filter` during the build, and replaces them by their
 * exports as JSON, so that the bundled program loads neither these modules nor what they import. Imports that match
 * `unused` are left out of the run.
 */
export function builtModule(filter: RegExp, unused: RegExp[] = []): Plugin {
  return {
    name: "built-module",
    async load(path) {
      if (!filter.test(path)) return undefined;
      const exported = Object.entries(await run(path, unused));
      // Use JSON in a string, because V8 reads it faster than an object in source code.
      const text = (value: unknown): string => JSON.stringify(JSON.stringify(value));
      const lines = exported.map(([name, value]) => `export const ${name} = JSON.parse(${text(value)});`);
      return { code: lines.join("\n"), moduleType: "js" };
    },
  };
}

async function run(path: string, external: RegExp[]): Promise<Record<string, unknown>> {
  const directory = await mkdtemp(join(tmpdir(), "built-module-"));
  try {
    const file = join(directory, "module.mjs");
    await build({ input: path, platform: "node", external, output: { file, codeSplitting: false } });
    return (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  } finally {
    await rm(directory, { recursive: true });
  }
}
