import type { Annotations } from "./tool.js";

/** Changes nothing. */
export const readOnly: Annotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

/** Changes nothing, and returns what programs in a sandbox have written, whose author may be anybody. */
export const readOnlyInside: Annotations = { ...readOnly, openWorldHint: true };

/** Adds something or changes its state; nothing that was there is lost. */
export const additive: Annotations = { ...readOnly, readOnlyHint: false, idempotentHint: false };

/** As {@link additive}; a second call changes nothing more. */
export const idempotent: Annotations = { ...additive, idempotentHint: true };

/** May replace or remove what was there; a second call changes nothing more. */
export const destructive: Annotations = { ...idempotent, destructiveHint: true };

/** Runs the code it is given, which may change anything in the sandbox and reach the internet where that is on. */
export const executing: Annotations = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true,
};
