import { defineConfig, type Options } from "tsup";
import { thirdPartyLicences } from "../../scripts/third-party-licences.js";

const shared: Options = {
  format: ["esm", "cjs"],
  target: "node20",
  // The contracts' types, constants and handlers come along: their package is not published. The paths make the
  // declarations come along too.
  noExternal: ["@cloud-sandbox/protocol"],
  dts: {
    compilerOptions: {
      stripInternal: true,
      paths: {
        "@cloud-sandbox/protocol": ["../protocol/src/index.ts"],
        "@cloud-sandbox/protocol/*": ["../protocol/src/*/index.ts"],
      },
    },
  },
};

const taken: Record<string, string> = { "modern-tar": "createTarPacker", "modern-tar/fs": "unpackTar" };

/** Bundlers take all of a package that is imported later; of one that a file of ours passes on, what that passes on. */
const passedOn: NonNullable<Options["esbuildPlugins"]>[number] = {
  name: "passed-on",
  setup(build) {
    const namespace = "passed-on";
    build.onResolve({ filter: /^modern-tar(\/fs)?$/ }, ({ kind, path }) => {
      // Without splitting, such a file would be a part of the one that is loaded at once.
      const passes = kind === "dynamic-import" && build.initialOptions.splitting === true;
      return passes ? { path, namespace } : { path, external: true };
    });
    build.onLoad({ filter: /./, namespace }, ({ path }) => ({
      contents: `export { ${taken[path]} } from "${path}";`,
    }));
  },
};

export default defineConfig([
  {
    ...shared,
    noExternal: ["@cloud-sandbox/protocol", "modern-tar"],
    esbuildPlugins: [passedOn],
    entry: { index: "src/index.ts", opentelemetry: "src/opentelemetry.ts" },
    // Also drops the imports that splitting leaves for their order alone.
    treeshake: { moduleSideEffects: false },
    clean: ["!testing/**"],
  },
  // Apart, so that the client shares no file with it and stays as small as it is.
  {
    ...shared,
    entry: { index: "src/testing/index.ts", msw: "src/testing/msw.ts" },
    outDir: "dist/testing",
    // Bundlers for browsers leave modern-tar out of the client, which has no files there; the service unpacks in memory.
    noExternal: ["@cloud-sandbox/protocol", "hono", "modern-tar"],
    esbuildPlugins: [thirdPartyLicences()],
    minifyWhitespace: true,
    clean: true,
  },
]);
