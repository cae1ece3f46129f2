import type { Options } from "tsup";
import { thirdPartyLicences } from "./third-party-licences.js";

/**
 * How programs for Node.js are built: as ES modules, with all packages inside that package.json does not list as dependencies.
 * What is imported by `import()` becomes a file of its own, which is loaded when it is needed.
 */
export const program: Options = {
  format: "esm",
  platform: "node",
  target: "node20",
  splitting: true,
  minify: true,
  clean: true,
  // Packages that are CommonJS call it for the modules of Node.js.
  banner: {
    js: 'import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url);',
  },
  esbuildPlugins: [thirdPartyLicences()],
  esbuildOptions: (options) => {
    // Packages say that their modules have no effects, and import some only for their order.
    options.logOverride = { "ignored-bare-import": "silent" };
  },
};
