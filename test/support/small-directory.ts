import { execFileSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * A file system of a few megabytes for a data directory, for tests with the tag `mount`. They fill it to the last byte and free it
 * again. With 0 it has no size.
 */
export class SmallDirectory implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), "small-"));
  readonly data = join(this.path, "data");
  readonly #filler = join(this.path, "filler");

  constructor(megabytes: number) {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", this.path]);
  }

  fill(): void {
    const file = openSync(this.#filler, "a");
    for (const size of [65_536, 4096, 1]) {
      try {
        for (;;) writeSync(file, Buffer.alloc(size));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
      }
    }
    closeSync(file);
  }

  free(): void {
    rmSync(this.#filler, { force: true });
  }

  [Symbol.dispose](): void {
    execFileSync("umount", ["--lazy", this.path]);
    rmdirSync(this.path);
  }
}
