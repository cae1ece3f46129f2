import { readFile } from "node:fs/promises";
import type { Plugin } from "esbuild";

/**
 * A plugin for esbuild that leaves out the part of dockerode with which BuildKit builds images: it is the only one that needs
 * gRPC, which is ten times as large as everything else. The native parts of ssh2 are left out too; it works without them.
 */
export function leanDockerode(): Plugin {
  return {
    name: "lean-dockerode",
    setup(build) {
      build.onLoad({ filter: /\/dockerode\/lib\/(session|buildkit)\.js$/ }, () => ({
        contents: 'module.exports = () => { throw new Error("Images are not built with BuildKit here."); };',
      }));
      build.onLoad({ filter: /\/ssh2\/lib\/protocol\/(crypto|constants)\.js$/ }, async ({ path }) => ({
        contents: (await readFile(path, "utf8")).replace(
          /require\('(\.\/crypto\/build\/Release\/sshcrypto\.node|cpu-features)'\)/g,
          '(() => { throw new Error("Native code is not bundled."); })()',
        ),
      }));
    },
  };
}
