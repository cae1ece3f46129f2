/** Restores the clock, the globals and the environment after each test file, because the next file runs in the same process. */
import { afterAll, expect, vi } from "vitest";

// Load Node's own fetch first: otherwise undici replaces it when a file imports undici, for all later files too.
await fetch("data:,");

const found = globals();

afterAll(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
  expect(globals()).toEqual(found);
});

function globals() {
  const { fetch, setImmediate, setInterval, setTimeout } = globalThis;
  return { clock: Date, fetch, path: process.env.PATH, setImmediate, setInterval, setTimeout };
}
