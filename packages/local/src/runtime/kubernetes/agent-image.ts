import { createHash } from "node:crypto";
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { basename } from "node:path";
import { buffer } from "node:stream/consumers";
import { dynamicLoader, sharedLibraries } from "../bubblewrap/host-files/loader.js";
import { codeUid, inside, opt } from "../container/paths.js";
import { packTar, type TarEntry } from "../container/toolkit/tar-entries.js";
import { collectToolkit } from "../container/toolkit/toolkit.js";

const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

/**
 * An image, as `docker save` writes one, with nothing but what a Pod needs besides the image that its sandbox sees: a Node.js
 * with its own loader and libraries, the agent and its supervisor. Each Pod copies them before its sandbox starts, with this machine's `cp`.
 */
export async function agentImage(name: string): Promise<Buffer> {
  const toolkit = await collectToolkit({
    name,
    arch: process.arch,
    log: () => undefined,
    found: { runsForeignNode: false },
  });
  const root = inside.run.split("/").slice(1, -1).join("/");
  const entries: TarEntry[] = [
    // Pods have one uid, which copies the loader and so must be able to read it.
    ...toolkit.entries.map((entry) => ({ ...entry, mode: entry.mode | 0o444 })),
    ...(await copyProgram(new Set(toolkit.entries.map(({ path }) => path)))),
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

/** `cp`, which takes a third of the time that a Node.js needs for the copy, and those of its libraries that are not `there` yet. */
async function copyProgram(there: ReadonlySet<string>): Promise<TarEntry[]> {
  const cp = realpathSync(["/usr/bin/cp", "/bin/cp"].find((path) => existsSync(path)) ?? "/usr/bin/cp");
  const loader = dynamicLoader(cp);
  const libraries = loader === undefined ? [] : await sharedLibraries(loader, cp);
  const files = [
    ...libraries.map((path) => ({ path: `lib/${basename(path)}`, mode: 0o644, file: readFileSync(path) })),
    { path: "bin/cp", mode: 0o755, file: readFileSync(cp) },
  ];
  return files
    .map((file) => ({ ...file, path: `${opt.slice(1)}/${file.path}` }))
    .filter(({ path }) => !there.has(path));
}

const accounts = (path: string, own: string, rest: string): TarEntry => ({
  path,
  mode: 0o644,
  file: `root:x:0:${rest && "0:root"}${rest}\n${own}\n`,
});
