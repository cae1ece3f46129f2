import { readdirSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
import { FileService, type WriteOptions } from "../../src/files/file-service.js";
import { ServedTree } from "../../src/files/served-tree.js";

export let home: string;
export let workspace: string;
export let other: string;
/** A directory on another file system. If this machine has no /dev/shm, it is on the same one. */
export let elsewhere: string;
export let files: FileService;

/** Gives each test of a file new directories and a file service for them. */
export function serveFiles(): void {
  beforeEach(async () => {
    home = realpathSync(await mkdtemp(join(tmpdir(), "file-service-")));
    [workspace, other] = [join(home, "workspace"), join(home, "other")];
    elsewhere = realpathSync(
      await mkdtemp(
        join(statSync("/dev/shm", { throwIfNoEntry: false }) ? "/dev/shm" : tmpdir(), "file-service-"),
      ),
    );
    for (const directory of [workspace, other, join(home, "outside")]) await mkdir(directory);
    files = new FileService(await ServedTree.create([workspace, other, elsewhere]));
  });
  afterEach(async () => {
    for (const directory of [home, elsewhere]) await rm(directory, { recursive: true, force: true });
  });
  afterEach(() => expect(held()).toBe(0));
}

export const at = (path: string): string => join(workspace, path);
export const plain: WriteOptions = { overwrite: true };
export const put = (path: string, content: string, options = plain) =>
  files.write(path, options, (append) => append(Buffer.from(content)));
export const content = (path: string): Promise<string> => readFile(join(workspace, path), "utf8");

/** Matches a refusal with this status, code and message. */
export const refusal = (status: number, code: string, message: string | RegExp = /./) =>
  expect.objectContaining({ status, code, message: expect.stringMatching(message) });

/** The number of descriptors that this process has open on files in the served directories. */
export const held = (): number =>
  readdirSync("/proc/self/fd").filter((descriptor) => {
    try {
      const where = readlinkSync(`/proc/self/fd/${descriptor}`);
      return where.startsWith(home) || where.startsWith(elsewhere);
    } catch {
      return false;
    }
  }).length;

export const onTwoFileSystems = (): boolean => statSync(workspace).dev !== statSync(elsewhere).dev;
