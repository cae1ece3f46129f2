import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { expect, test } from "vitest";

const entry = fileURLToPath(new URL("../../packages/client/dist/testing/index.js", import.meta.url));

test("the testing service is bundled for browsers: it needs nothing of Node.js", async () => {
  const { warnings, metafile } = await build({
    entryPoints: [entry],
    bundle: true,
    platform: "browser",
    format: "esm",
    write: false,
    metafile: true,
    logLevel: "silent",
  });
  expect(warnings).toEqual([]);
  expect(Object.keys(metafile.inputs)).toHaveLength(1);
});
