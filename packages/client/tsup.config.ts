import { defineConfig, type Options } from "tsup";
import { thirdPartyLicences } from "../../scripts/third-party-licences.js";

const shared: Options = {
  format: ["esm", "cjs"],
  target: "node20",
  // The contracts' types, constants and handlers come along: their packages are not published. The paths make the
  // declarations come along too.
  noExternal: ["@cloud-sandbox/protocol", "@cloud-sandbox/server-kit"],
  dts: {
    compilerOptions: {
      stripInternal: true,
      paths: {
        "@cloud-sandbox/protocol": ["../protocol/src/index.ts"],
        "@cloud-sandbox/server-kit": ["../server-kit/src/index.ts"],
        "@cloud-sandbox/server-kit/*": ["../server-kit/src/*/index.ts", "../server-kit/src/*.ts"],
      },
    },
  },
};

export default defineConfig([
  {
    ...shared,
    entry: {
      index: "src/index.ts",
      opentelemetry: "src/opentelemetry.ts",
      "absent-archives": "src/files/absent-archives.ts",
    },
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
    noExternal: ["@cloud-sandbox/protocol", "@cloud-sandbox/server-kit", "hono", "modern-tar"],
    esbuildPlugins: [thirdPartyLicences()],
    minifyWhitespace: true,
    clean: true,
  },
]);
