import { mkdtemp, open, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { writeOutput } from "../../src/runtime/bubblewrap/written-output.js";

const sh = (script: string) => ["/bin/sh", "-c", script];

async function newFile() {
  const directory = await mkdtemp(join(tmpdir(), "output-"));
  const path = join(directory, "file");
  const file = await open(path, "wx");
  onTestFinished(async () => {
    await file.close();
    await rm(directory, { recursive: true });
  });
  return { path, file };
}

test("all that a program prints is written when it is done", async () => {
  const { path, file } = await newFile();
  const program = sh("head -c 300000 /dev/zero; echo note >&2; echo end");
  await writeOutput(program, { descriptor: file.fd, mostBytes: 2 ** 20 }).done;
  expect((await readFile(path, "latin1")).slice(299_999)).toBe("\0end\n");
});

test.each([
  ["the program fails after its output", sh("echo begun; echo unreadable >&2; exit 2"), "unreadable"],
  ["the program is killed", sh("echo begun; kill -9 $$"), "Killed"],
  ["there is no such program", ["/no/such/program"], "not found"],
  ["more is printed than may be written", sh("head -c 2000 /dev/zero"), "more than 1024 bytes"],
])("it fails when %s", async (_, program, message) => {
  const { file } = await newFile();
  const { done } = writeOutput(program, { descriptor: file.fd, mostBytes: 1024 });
  await expect(done).rejects.toThrow(message);
});

test("a full disk is told by its code", async () => {
  await using full = await open("/dev/full", "w");
  const { done } = writeOutput(sh("echo text"), { descriptor: full.fd, mostBytes: 1024 });
  await expect(done).rejects.toMatchObject({ code: "ENOSPC" });
});

test("what is killed ends with all that it has started", async () => {
  const { file } = await newFile();
  const output = writeOutput(sh("sleep 600 & sleep 600"), { descriptor: file.fd, mostBytes: 1024 });
  output.kill();
  await expect(output.done).rejects.toThrow("it has ended");
  // It may have ended.
  output.kill();
});
