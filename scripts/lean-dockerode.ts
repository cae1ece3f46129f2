import type { Plugin } from "rolldown";

/**
 * A plugin for rolldown that leaves out the part of dockerode with which BuildKit builds images: it is the only one that needs
 * gRPC, which is ten times as large as everything else. The native parts of ssh2 are left out too; it works without them.
 */
export function leanDockerode(): Plugin {
  return {
    name: "lean-dockerode",
    load: (id) =>
      /\/dockerode\/lib\/(session|buildkit)\.js$/.test(id)
        ? 'module.exports = () => { throw new Error("Images are not built with BuildKit here."); };'
        : null,
    transform: (code, id) =>
      /\/ssh2\/lib\/protocol\/(crypto|constants)\.js$/.test(id)
        ? code.replace(
            /require\('(\.\/crypto\/build\/Release\/sshcrypto\.node|cpu-features)'\)/g,
            '(() => { throw new Error("Native code is not bundled."); })()',
          )
        : null,
  };
}
