import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { InvalidHomeFilesError } from "../src/errors/local-errors.js";
import { readHomeFiles, remarksOn } from "../src/home-directory.js";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "home-files-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const file = (name: string, content = "x"): void => writeFileSync(join(directory, name), content);
const base64 = (text: string): string => Buffer.from(text).toString("base64");

test("files are read with their paths, also those that a link leads to", () => {
  mkdirSync(join(directory, ".config/pip"), { recursive: true });
  file(".config/pip/pip.conf", "pip");
  symlinkSync(".config/pip/pip.conf", join(directory, "link"));
  expect(readHomeFiles(directory)).toEqual({ ".config/pip/pip.conf": base64("pip"), link: base64("pip") });
});

const refused: [string, () => void, RegExp][] = [
  ["is not there", () => rmSync(directory, { recursive: true }), /home-files-\w+ does not exist/],
  ["is a file", () => replaceByFile(), /home-files-\w+ is not a directory/],
  ["is empty", () => undefined, /there is no file in it/],
  ["has a link that leads nowhere", () => symlinkSync("nowhere", join(directory, "a")), /\/a does not exist/],
  ["has a link to itself", () => symlinkSync(".", join(directory, "a")), /more than 50 files|cannot be read/],
  ["has a device", () => symlinkSync("/dev/zero", join(directory, "a")), /a is not a file/],
  [
    "has too many files",
    () => Array.from({ length: 51 }, (_, number) => file(String(number))),
    /more than 50 files/,
  ],
  [
    "has a large file",
    () => {
      file("large");
      truncateSync(join(directory, "large"), 128 * 1024 + 1);
    },
    /more than 128 KiB/,
  ],
];

function replaceByFile(): void {
  rmSync(directory, { recursive: true });
  writeFileSync(directory, "");
}

test.each(refused)("a directory that %s is refused with what to give", (_, prepare, reason) => {
  prepare();
  const read = (): unknown => readHomeFiles(directory);
  expect(read).toThrow(InvalidHomeFilesError);
  expect(read).toThrow(reason);
  expect(read).toThrow(/--home-files or CLOUD_SANDBOX_HOME_FILES a directory/);
});

test.each([
  [".npmrc", "//mirror.test/:_authToken=abcdef", true],
  ["pip.conf", "index-url = https://user:abcdef@mirror.test/simple", true],
  ["settings.xml", "<password>abcdef</password>", true],
  [".npmrc", "registry=https://mirror.test/npm/\nalways-auth=false", false],
  ["pip.conf", "index-url = https://mirror.test:8080/simple", false],
  ["config.toml", 'registry = "sparse+https://mirror.test/cargo/"', false],
])("%s with %j is named for its password: %s", (name, content, isNamed) => {
  const remarks = remarksOn({ [name]: base64(content) });
  expect(remarks).toEqual(isNamed ? [expect.stringContaining(`${name} of --home-files seems`)] : []);
  expect(remarks.join()).not.toContain("abcdef");
});
