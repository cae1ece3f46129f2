import { defineConfig, type Options } from "tsup";
import { thirdPartyLicences } from "../../scripts/third-party-licences.js";

const shared: Options = {
  format: ["esm", "cjs"],
  target: "node20",
  // Bundle the private packages with types, constants and handlers, because they are not published. The paths make tsup
  // bundle their declarations too.
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
    // Drop the imports that code splitting adds only to keep the order of modules.
    treeshake: { moduleSideEffects: false },
    clean: ["!testing/**"],
  },
  // Build the testing service separately, so that it shares no file with the client and does not make the client
  // larger.
  {
    ...shared,
    entry: { index: "src/testing/index.ts", msw: "src/testing/msw.ts" },
    outDir: "dist/testing",
    // Bundle modern-tar here too: the service unpacks archives in memory, also in browsers, for which the client leaves
    // it out.
    noExternal: ["@cloud-sandbox/protocol", "@cloud-sandbox/server-kit", "diff", "hono", "modern-tar"],
    esbuildPlugins: [thirdPartyLicences()],
    minifyWhitespace: true,
    clean: true,
  },
]);
