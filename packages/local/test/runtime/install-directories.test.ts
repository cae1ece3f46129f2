import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import script from "../../src/runtime/bubblewrap/host-files/install-directories.pl?raw";

const run = promisify(execFile);

let place: string;
let source: string;
let kept: string;
let targets = 0;

beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), "install-directories-"));
  source = join(place, "source");
  kept = join(place, "list.kept");
  await mkdir(join(source, "lib/python"), { recursive: true });
});

afterEach(() => rm(place, { recursive: true, force: true }));

const listing = "find . -mindepth 1 -type d -print0";
const failing = "echo 'it was listed' >&2";

/** Makes the directories in a new directory, and resolves with their paths. */
async function make(list: string): Promise<string[]> {
  targets += 1;
  const target = join(place, `target-${targets}`);
  await mkdir(target);
  await run("perl", ["-e", script, "--", target, list, kept], { cwd: source });
  return (await readdir(target, { recursive: true })).sort();
}

/** Makes them until the list is kept, which it is only when nothing in it has changed for two seconds. */
async function keep(): Promise<void> {
  await expect
    .poll(async () => (await make(listing)) && (await stat(kept).catch(() => undefined))?.isFile(), {
      interval: 200,
    })
    .toBe(true);
}

test("makes the directories that are listed, for everybody to write to", async () => {
  expect(await make(listing)).toEqual(["lib", "lib/python"]);
  expect((await stat(join(place, `target-${targets}`, "lib/python"))).mode & 0o777).toBe(0o777);
});

test("lists them once", async () => {
  await keep();
  expect(await make(failing)).toEqual(["lib", "lib/python"]);
  expect((await stat(kept)).mode & 0o777).toBe(0o600);
});

test.each<[string, () => Promise<unknown>]>([
  ["a directory is added", () => mkdir(join(source, "lib/python/package"))],
  ["a directory is removed", () => rm(join(source, "lib/python"), { recursive: true })],
  [
    "the directory that they are in is another one",
    async () => {
      await rm(source, { recursive: true });
      await mkdir(join(source, "lib/python"), { recursive: true });
    },
  ],
  ["the list is damaged", () => writeFile(kept, "nothing\0lib")],
  ["the list is empty", () => writeFile(kept, "")],
])("lists them again after %s", async (_, change) => {
  await keep();
  await change();
  expect(await make(failing)).toEqual([]);
  const paths = (await readdir(source, { recursive: true })).sort();
  expect(await make(listing)).toEqual(paths);
});

test("makes them where no list can be kept", async () => {
  kept = "";
  expect(await make(listing)).toEqual(["lib", "lib/python"]);
  kept = join(place, "no-such-directory/list");
  expect(await make(listing)).toEqual(["lib", "lib/python"]);
});
