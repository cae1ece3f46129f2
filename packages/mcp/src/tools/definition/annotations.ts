import type { Annotations } from "./tool.js";

/** Annotations of a tool that changes nothing. */
export const readOnly: Annotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

/**
 * Annotations of a tool that changes nothing, and returns what programs in a sandbox have written, whose author may be
 * anybody.
 */
export const readOnlyInside: Annotations = { ...readOnly, openWorldHint: true };

/** Annotations of a tool that adds something or changes its state, without losing anything. */
export const additive: Annotations = { ...readOnly, readOnlyHint: false, idempotentHint: false };

/** Annotations of an {@link additive} tool whose second call changes nothing more. */
export const idempotent: Annotations = { ...additive, idempotentHint: true };

/** Annotations of a tool that may replace or remove something; a second call changes nothing more. */
export const destructive: Annotations = { ...idempotent, destructiveHint: true };

/**
 * Annotations of a tool that runs code, which may change anything in the sandbox and reach the internet if that is on.
 */
export const executing: Annotations = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true,
};
