import { execFile } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { savedImage, tarOf } from "../../packages/local/test/support/image-archives.js";

const run = promisify(execFile);
const python = "/usr/bin/python3";
const programs = ["bash", "cat", "env", "id", "ls", "mkdir", "mkfifo", "sleep", "tar", "touch"].map(
  (name) => `/usr/bin/${name}`,
);

/** The reason why no image can be made of this machine's programs. Undefined if one can. */
export const cannotMakeImage = (): string | undefined =>
  existsSync(python) ? undefined : `${python} is not installed`;

/**
 * An image as `docker save` writes it, made without a registry: a few programs of this machine with their libraries, Python,
 * and files that no machine has.
 */
export async function hostImage(reference: string): Promise<Buffer> {
  const place = await mkdtemp(join(tmpdir(), "host-image-"));
  try {
    const { stdout: told } = await run(python, ["-c", "import os; print(os.__file__)"]);
    const library = join(told.trim(), "..");
    const modules = (await run("find", [library, "-name", "*.so"])).stdout.trim().split("\n");
    const { stdout: linked } = await run("ldd", [...programs, python, ...modules.filter(Boolean)]);
    const libraries = [...linked.matchAll(/(?:=> )?(\/\S+) \(0x/g)].map(([, path = ""]) => path);
    const paths = new Set([...programs, python, ...libraries, library]);
    const layer = join(place, "layer.tar");
    // Names without links: where a program is on this machine may lead through one.
    await run("tar", [
      ...["--create", "--dereference", "--hard-dereference", `--file=${layer}`, "--directory=/"],
      ...["test", "idlelib", "ensurepip", "__pycache__", "config-*", "dist-packages"].map(
        (name) => `--exclude=${library.slice(1)}/${name}`,
      ),
      ...[...paths].map((path) => real(path).slice(1)),
    ]);
    const links = ["bin", "sbin", "lib", "lib64"].map(
      (name) => ({ path: name, type: "SymbolicLink", link: `usr/${name}` }) as const,
    );
    const own = tarOf([
      ...links,
      { path: "etc/os-release", text: 'ID=made\nVERSION_ID="7"\n' },
      { path: "etc/ld.so.preload", text: "/lib/not-there.so\n" },
      { path: "opt/tools/made", text: "#!/bin/bash\necho of the image\n", mode: 0o755 },
      { path: "tmp", type: "Directory" },
      { path: "workspace/from-image", text: "kept" },
      { path: "unwanted", text: "" },
    ]);
    const last = tarOf([{ path: ".wh.unwanted" }]);
    const config = {
      Env: ["PATH=/opt/tools:/usr/bin:/bin", "MADE_OF=host"],
      WorkingDir: "/app",
      Cmd: ["bash"],
    };
    return savedImage({ layers: [await readFile(layer), own, last], reference, config });
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

/** The path with its directory's links followed: `/lib/x.so` is at `/usr/lib/x.so` on most machines. */
function real(path: string): string {
  const at = path.lastIndexOf("/");
  return realpathSync(path.slice(0, at)) + path.slice(at);
}
