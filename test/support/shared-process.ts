/** Restores the clock and the globals after each test file, because the next file runs in the same process. */
import { afterAll, expect, vi } from "vitest";

// Loads Node's own fetch before a file imports undici, which would take its place for all files that follow.
await fetch("data:,");

const found = globals();

afterAll(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
  vi.unstubAllGlobals();
  expect(globals()).toEqual(found);
});

function globals() {
  const { fetch, setImmediate, setInterval, setTimeout } = globalThis;
  return { clock: Date, fetch, setImmediate, setInterval, setTimeout };
}
