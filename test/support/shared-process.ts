/** For test files that share a process: the next one finds the clock and the globals as this one found them. */
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
