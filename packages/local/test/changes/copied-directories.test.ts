import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { CopiedDirectories, type CopyingSandbox } from "../../src/changes/copied-directories.js";
import { converse } from "../../src/changes/copy-processes.js";
import { startPiped } from "../../src/runtime/host/piped-program.js";
import type { Machine } from "../../src/runtime/sandbox-runtime.js";

const place = await mkdtemp(join(tmpdir(), "copied-directories-"));
afterEach(() => rm(place, { recursive: true, force: true }));

const node = (script: string): ReturnType<typeof startPiped> =>
  startPiped([process.execPath, "-e", script], {});

test.each([
  ["goes on", "x".repeat(4000), 'const more = () => process.stdout.write(lines, "latin1", more); more();'],
  [
    "is longer in JSON, of names that are no UTF-8,",
    "\xff".repeat(4000),
    'for (let each = 0; each < 20; each += 1) process.stdout.write(lines, "latin1"); setInterval(() => {}, 1000);',
  ],
])(
  "a list of changes that %s is ended with 413, and so is the program that writes it",
  async (_, path, write) => {
    const mount = { target: "/repo", source: { host: place }, readOnly: false, isCopy: true } as const;
    const line = JSON.stringify({ path, kind: "added", type: "directory" });
    const program = node(`const lines = ${JSON.stringify(`${line}\n`)}.repeat(100); ${write}`);
    const machine = {
      readCopy: () => ({ program, places: { merged: "/m", upper: "/u", lower: "/l" } }),
    } as unknown as Machine;
    const sandbox: CopyingSandbox = {
      id: "one",
      status: "running",
      failureReason: undefined,
      machine,
      mounted: [mount],
    };
    const copies = new CopiedDirectories(
      async () => place,
      () => Promise.reject(new Error("not opened")),
    );
    await expect(copies.changes(sandbox, mount, new AbortController().signal)).rejects.toMatchObject({
      status: 413,
      code: "PAYLOAD_TOO_LARGE",
      message: expect.stringContaining("longer than 32 MiB"),
    });
    await expect.poll(() => program.signalCode).toBe("SIGKILL");
  },
);

test("a program whose input cannot be read to its end gets no more, and the reason is thrown", async () => {
  const program = node("process.stdin.resume()");
  const feed = () => Promise.reject(new Error("the sandbox has stopped"));
  await expect(converse(program, {}, () => undefined, { feed })).rejects.toThrow("the sandbox has stopped");
});

test("a program that cannot be started is a 503, and no error without a listener", async () => {
  expect(() => startPiped([join(place, "missing")], {})).toThrow(
    expect.objectContaining({ status: 503, code: "SERVICE_UNAVAILABLE" }),
  );
  await sleep(10);
});
