import type { Annotations } from "./tool.js";

/** Looks, and changes nothing. */
export const looks: Annotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

/** As {@link looks}, at what programs in a sandbox have written: anybody may be the author of it. */
export const looksInside: Annotations = { ...looks, openWorldHint: true };

/** Adds something or switches its state; nothing that was there is lost. */
export const adds: Annotations = { ...looks, readOnlyHint: false, idempotentHint: false };

/** As {@link adds}; doing it twice is the same as doing it once. */
export const settles: Annotations = { ...adds, idempotentHint: true };

/** May replace or remove what was there; doing it twice is the same as doing it once. */
export const replaces: Annotations = { ...settles, destructiveHint: true };

/** Runs what it is given: it may change anything in the sandbox, and reach the internet where that is on. */
export const runs: Annotations = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true,
};
