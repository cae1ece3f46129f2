import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { MadeFiles } from "../../src/runtime/bubblewrap/host-files/made-files.js";
import { ProgramLauncher } from "../../src/runtime/bubblewrap/launch/program-launcher.js";

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "hanging-perl-"));
  const programs = join(directory, "bin");
  await mkdir(programs);
  await writeFile(join(programs, "perl"), "#!/bin/sh\nexec sleep 1000\n");
  await chmod(join(programs, "perl"), 0o755);
  vi.stubEnv("PATH", `${programs}:${process.env.PATH}`);
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(directory, { recursive: true, force: true });
});

test("a Perl that hangs is given up by what makes an instance's files", async () => {
  const wanted = { pipes: [join(directory, "pipe")], devices: undefined, skeleton: undefined };
  await expect(new MadeFiles(wanted, 200).all()).rejects.toThrow("files for sandboxes could not be made");
});

test("a Perl that hangs does not delay the end of what starts programs", async () => {
  const launcher = new ProgramLauncher(directory, join(directory, "socket"), []);
  const isReady = launcher.isReady();
  await launcher.close();
  expect(await isReady).toBe(false);
});
