import { chmodSync, mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import type { OfferedSystem } from "@cloud-sandbox/protocol";
import type { ImageRoot } from "./image-root.js";

/** Directories of a sandbox's own, on which others are mounted, or that programs expect. */
const directories = [
  ...["dev", "etc", "home/sandbox", "opt/cloud-sandbox", "opt/node", "proc", "run", "sys/fs/cgroup", "tmp"],
  ...["usr", "var/cache", "var/lib", "var/log", "var/tmp", "workspace"],
];

/** Files over which a sandbox's own are mounted. */
const covered = ["etc/ld.so.preload", "etc/nsswitch.conf"];

/** Every sandbox has these: the image's own are about the machine that built it, and no container uses them. */
const ofTheSandbox = {
  "etc/hosts": "127.0.0.1 localhost sandbox\n::1 localhost sandbox\n",
  "etc/hostname": "sandbox\n",
  "etc/resolv.conf": "",
};

/**
 * Makes a layer of an image's files: adds what every sandbox has, and splits the tree into the parts of a layer. `root`
 * must be the directory `root` of the layer.
 */
export function finishRoot(root: ImageRoot, layer: string, workdir: string): void {
  for (const path of directories) root.requireDirectory(path);
  const path = workdir.replace(/^\/+/, "");
  if (root.status(path) === undefined) root.makeDirectory(path);
  for (const path of covered) if (!root.status(path)?.isFile()) root.writeText(path, "");
  for (const [path, text] of Object.entries(ofTheSandbox)) root.writeText(path, text);
  addUser(root, "etc/passwd", ":x:1000:1000:sandbox:/home/sandbox:/bin/sh\n");
  addUser(root, "etc/group", ":x:1000:\n");
  for (const path of ["tmp", "var/tmp"]) chmodSync(join(root.path, path), 0o1777);
  // Each of these is a part of its own in a layer, and mounted where it was.
  for (const [from, part] of [
    ["usr", "usr"],
    ["workspace", "workspace"],
    ["home/sandbox", "home"],
  ] as const) {
    renameSync(join(root.path, from), join(layer, part));
    mkdirSync(join(root.path, from));
    chmodSync(join(root.path, from), 0o777);
  }
}

/** The operating system that the image says it is. */
export function systemOf(root: ImageRoot): OfferedSystem | undefined {
  const release = root.readText("etc/os-release") ?? root.readText("usr/lib/os-release") ?? "";
  const field = (name: string): string =>
    new RegExp(`^${name}="?([^"\\n]*)`, "m").exec(release)?.[1]?.slice(0, 60) ?? "";
  if (!/^[\w.-]+$/.test(field("ID"))) return undefined;
  return { id: field("ID"), like: field("ID_LIKE").split(" "), version: field("VERSION_ID") };
}

/** Gives the sandbox's uid a name, unless the image has one for it. */
function addUser(root: ImageRoot, path: string, entry: string): void {
  const lines =
    root.readText(path) ?? (path === "etc/passwd" ? "root:x:0:0:root:/root:/bin/sh\n" : "root:x:0:\n");
  const fields = lines.split("\n").map((line) => line.split(":"));
  if (fields.some(([, , id]) => id === "1000")) return;
  const names = new Set(fields.map(([name]) => name));
  const name = names.has("sandbox") ? "sandbox1000" : "sandbox";
  root.writeText(path, lines.replace(/\n?$/, "\n") + name + entry);
}
