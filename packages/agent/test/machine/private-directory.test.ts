import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { PrivateDirectory } from "../../src/machine/private-directory.js";

test.each([[undefined], ["named"]])(
  "is made once when several need it, and removed (name: %s)",
  async (name) => {
    const parent = await mkdtemp(join(tmpdir(), "private-directory-"));
    onTestFinished(() => rm(parent, { recursive: true }));
    const directory = new PrivateDirectory(parent, name);
    const several = () => Promise.all([1, 2, 3].map(() => directory.path()));
    const [first, ...others] = await several();
    expect(new Set(others)).toEqual(new Set([first]));
    await rm(first ?? "", { recursive: true });
    expect(new Set(await several()).size).toBe(1);
    await directory.remove();
    expect(await readdir(parent)).toEqual([]);
  },
);
