import * as z from "zod/mini";

const timestamp = z.optional(z.string());

const errorFrame = z.looseObject({
  type: z.literal("error"),
  error: z.string(),
  /** What is wrong, without the hint. */
  message: z.optional(z.string()),
  /** What to do next. */
  hint: z.optional(z.string()),
  code: z.optional(z.string()),
  /** What it is about, when it is about a path. */
  path: z.optional(z.string()),
  timestamp,
});

/** What arrives over `/execute/stream`, `/stream`, `/stream/ipython` and `/commands/stream`. */
export const executeStreamFrame = z.discriminatedUnion("type", [
  z.looseObject({
    type: z.enum(["stdout", "stderr"]),
    data: z.string(),
    timestamp,
    /** Bytes before `data` that were no longer kept when their turn came. */
    skipped_bytes: z.optional(z.int()),
  }),
  z.looseObject({
    type: z.literal("result"),
    exit_code: z.int(),
    /** Seconds. */
    execution_time: z.optional(z.number()),
    timestamp,
    /** Why it ended: `exit`, `timeout`, `killed` and others. */
    termination_reason: z.optional(z.string()),
    /** The last expression's value as text. */
    result: z.optional(z.string()),
    /** What the code displayed, in order. */
    rich_outputs: z.optional(z.array(z.looseObject({ type: z.string() }))),
  }),
  errorFrame,
  /** The last one, whatever happened. */
  z.looseObject({ type: z.literal("complete"), success: z.boolean() }),
]);

/** What arrives over `/terminal`. */
export const terminalFrame = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("output"), data: z.string() }),
  /** The last one of a shell that ended. */
  z.looseObject({ type: z.literal("exit"), code: z.int() }),
  errorFrame,
]);

/** What arrives over `/files/watch`. */
export const watchFrame = z.discriminatedUnion("type", [
  z.looseObject({
    type: z.literal("change"),
    path: z.string(),
    event: z.enum(["created", "modified", "deleted", "renamed"]),
    /** Of what was renamed, its name before. */
    old_path: z.optional(z.string()),
    timestamp,
  }),
  /** From here on nothing is missed. Only for those who asked for it. */
  z.looseObject({ type: z.literal("ready"), path: z.string(), timestamp }),
  errorFrame,
]);

export type ExecuteStreamFrame = z.infer<typeof executeStreamFrame>;
export type TerminalFrame = z.infer<typeof terminalFrame>;
export type WatchFrame = z.infer<typeof watchFrame>;
