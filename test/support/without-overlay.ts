import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

/** A search path with an `unshare` that fails, as on a kernel that refuses overlay mounts to ordinary users. */
export class PathWithoutOverlay implements AsyncDisposable {
  private constructor(private readonly directory: string) {}

  static async make(): Promise<PathWithoutOverlay> {
    const directory = await mkdtemp(join(tmpdir(), "no-overlay-"));
    await chmod(directory, 0o755);
    await writeFile(join(directory, "unshare"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
    return new PathWithoutOverlay(directory);
  }

  get path(): string {
    return [this.directory, process.env.PATH].join(delimiter);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.directory, { recursive: true });
  }
}
