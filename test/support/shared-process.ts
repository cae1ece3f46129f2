/** For test files that share a process: the next one finds the clock and the globals as this one found them. */
import { afterAll, expect, vi } from "vitest";

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
