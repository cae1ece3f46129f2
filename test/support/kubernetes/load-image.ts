import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

/** Gives the first node of a cluster that `up` started an image, as `docker save` writes it. */
export async function loadImage(cluster: string, image: Buffer): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "image-"));
  try {
    const file = join(directory, "image.tar");
    await writeFile(file, image);
    const containerd = ["--address", join(cluster, "node1/containerd/sock"), "--namespace", "k8s.io"];
    await promisify(execFile)("ctr", [...containerd, "images", "import", file]);
  } finally {
    await rm(directory, { recursive: true });
  }
}
