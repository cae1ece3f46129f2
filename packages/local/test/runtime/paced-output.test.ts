import { Readable } from "node:stream";
import { CapturedOutput } from "@cloud-sandbox/server-kit/execution";
import { beforeEach, expect, test, vi } from "vitest";
import { PacedOutput } from "../../src/runtime/bubblewrap/launch/program-pipes.js";

// No pause ends by itself.
beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout"] }));

const small = Buffer.from("a line\n");

test.each([
  ["that were written after 4 MiB", 5 * 1024 * 1024, false],
  ["that wait for a reader", 800 * 1024, true],
])("the rest is read without pauses: 1000 small chunks %s", async (_, written, waitsForReader) => {
  const output = new PacedOutput();
  if (waitsForReader) output.follow();
  const stream = Readable.from([Buffer.alloc(written), ...Array.from({ length: 1000 }, () => small)]);
  const captured = new CapturedOutput(stream, output);
  await expect.poll(() => output.bytes).toBeGreaterThanOrEqual(written);
  output.readRest();
  await captured.ended;
  expect(output.bytes).toBe(written + 1000 * small.length);
});
