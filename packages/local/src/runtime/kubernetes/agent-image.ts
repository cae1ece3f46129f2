import { createHash } from "node:crypto";
import { buffer } from "node:stream/consumers";
import { codeUid, inside } from "../container/paths.js";
import { packTar, type TarEntry } from "../container/toolkit/tar-entries.js";
import { collectToolkit } from "../container/toolkit/toolkit.js";

const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

/**
 * An image, as `docker save` writes one, with nothing but what a Pod needs besides the image that its sandbox sees: a Node.js
 * with its own loader and libraries, the agent and its supervisor. Each Pod copies them before its sandbox starts.
 */
export async function agentImage(name: string): Promise<Buffer> {
  const toolkit = await collectToolkit({
    ...{ name, arch: process.arch, log: () => undefined },
    found: { runsForeignNode: false },
  });
  const root = inside.run.split("/").slice(1, -1).join("/");
  const entries: TarEntry[] = [
    // Pods have one uid, which copies the loader and so must be able to read it.
    ...toolkit.entries.map((entry) => ({ ...entry, mode: entry.mode | 0o444 })),
    ...[`${root}/etc`].map((path) => ({ path, mode: 0o755 })),
    accounts(
      `${root}/etc/passwd`,
      `sandbox:x:${codeUid}:${codeUid}:sandbox:${inside.home}:/bin/bash`,
      ":/root:/bin/sh",
    ),
    accounts(`${root}/etc/group`, `sandbox:x:${codeUid}:`, ""),
  ];
  const layer = await buffer(packTar(entries));
  const config = Buffer.from(
    JSON.stringify({
      architecture: { x64: "amd64" }[process.arch as string] ?? process.arch,
      os: "linux",
      config: { User: String(codeUid) },
      rootfs: { type: "layers", diff_ids: [`sha256:${sha256(layer)}`] },
    }),
  );
  const manifest = [{ Config: "config.json", RepoTags: [name], Layers: ["layer/layer.tar"] }];
  return buffer(
    packTar([
      { path: "config.json", mode: 0o644, file: config },
      { path: "layer", mode: 0o755 },
      { path: "layer/layer.tar", mode: 0o644, file: layer },
      { path: "manifest.json", mode: 0o644, file: JSON.stringify(manifest) },
    ]),
  );
}

const accounts = (path: string, own: string, rest: string): TarEntry => ({
  ...{ path, mode: 0o644 },
  file: `root:x:0:${rest && "0:root"}${rest}\n${own}\n`,
});
