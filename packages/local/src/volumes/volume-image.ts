import { execFile } from "node:child_process";
import { open, readFile, rm } from "node:fs/promises";
import { basename } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

const mebibyte = 1024 * 1024;
/** mkfs.ext4 and losetup are where only root's search path leads. */
const options = { env: { PATH: `${process.env.PATH ?? ""}:/usr/sbin:/sbin`, LC_ALL: "C" }, cwd: "/" };

/**
 * Creates a file with an empty ext4 file system, whose size limits what is written to it. The file takes space only for what
 * is written. The root directory belongs to uid 0 of the file system, which is code's uid in every machine.
 */
export async function createImage(path: string, sizeMb: number): Promise<void> {
  try {
    const file = await open(path, "wx", 0o600);
    try {
      await file.truncate(sizeMb * mebibyte);
    } finally {
      await file.close();
    }
    const features = ["-E", "root_owner=0:0,lazy_itable_init=1,nodiscard", "-m", "0", "-J", "size=4"];
    await run("mkfs.ext4", ["-q", "-F", ...features, path], options);
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

/** Removes the device of an image that a server attached and was killed before it let go of it. One that is in use goes later. */
export async function detachImage(path: string): Promise<void> {
  const { stdout } = await run(
    "losetup",
    ["--noheadings", "--output", "NAME", "--associated", path],
    options,
  );
  for (const device of stdout.split("\n").filter(Boolean))
    await run("losetup", ["--detach", device], options);
}

/** A block device with the contents of an image. */
export interface AttachedImage {
  readonly device: string;
  /** Lets the kernel remove the device as soon as nothing mounts it any more. */
  release(): Promise<void>;
}

/**
 * Attaches an image to a loop device, or finds the one that it is attached to: two devices would destroy the file system. Do
 * not call it for one image twice at a time.
 *
 * The kernel removes the device when its last user is gone: at first the descriptor that is held here, then the machines that
 * have mounted it. So nothing is left if this process is killed, but for the moment before the device is detached; see
 * {@link detachImage}.
 */
export async function attachImage(path: string): Promise<AttachedImage> {
  const { stdout } = await run("losetup", ["--find", "--show", "--nooverlap", path], options);
  const device = stdout.trim();
  const held = await open(device, "r");
  try {
    // Until the descriptor was open, a device without users could have become another image's.
    const backing = await readFile(`/sys/block/${basename(device)}/loop/backing_file`, "utf8");
    if (backing.trim() !== path) throw new Error(`${device} belongs to another file`);
    await run("losetup", ["--detach", device], options);
  } catch (error) {
    await held.close();
    throw error;
  }
  return { device, release: () => held.close() };
}
