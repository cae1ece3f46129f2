import * as z from "zod/mini";

const timestamp = z.optional(z.string());

const errorFrame = z.looseObject({
  type: z.literal("error"),
  error: z.string(),
  /** The problem, followed by the hint: the same text as `error`. */
  message: z.optional(z.string()),
  /** What the caller can do next. */
  hint: z.optional(z.string()),
  code: z.optional(z.string()),
  /** The path that the error is about, if any. */
  path: z.optional(z.string()),
  timestamp,
});

/** Frames from the server on `/execute/stream`, `/stream`, `/stream/ipython` and `/commands/stream`. */
export const executeStreamFrame = z.discriminatedUnion("type", [
  z.looseObject({
    type: z.enum(["stdout", "stderr"]),
    data: z.string(),
    /** The bytes of `data`, if they are not UTF-8. */
    base64: z.optional(z.string()),
    timestamp,
    /** Number of bytes before `data` that were dropped before the reader got to them. */
    skipped_bytes: z.optional(z.int()),
  }),
  z.looseObject({
    type: z.literal("result"),
    exit_code: z.int(),
    /** Duration in seconds. */
    execution_time: z.optional(z.number()),
    timestamp,
    /** Why the program ended: `exit`, `timeout`, `killed` and others. */
    termination_reason: z.optional(z.string()),
    /** Value of the code's last expression, as text. */
    result: z.optional(z.string()),
    /** Values that the code displayed, in order. */
    rich_outputs: z.optional(z.array(z.looseObject({ type: z.string() }))),
  }),
  errorFrame,
  /** Always the last frame, after a result or an error. */
  z.looseObject({ type: z.literal("complete"), success: z.boolean() }),
]);

/** Frames from the server on `/terminal`. */
export const terminalFrame = z.discriminatedUnion("type", [
  /** The first frame on a terminal that outlives its connection. */
  z.looseObject({
    type: z.literal("attached"),
    /** Seconds for which the terminal outlives a lost connection. */
    kept_seconds: z.int(),
    /** Number of the last input frame that the server has accepted. */
    taken: z.int(),
    /** Bytes of output that the client has not received and that are no longer kept. */
    skipped_bytes: z.int(),
  }),
  z.looseObject({
    type: z.literal("output"),
    data: z.string(),
    /** Bytes of output up to the end of `data`, on a terminal that outlives its connection. */
    position: z.optional(z.int()),
    /** Number of the last input frame that the server has accepted, on a terminal that outlives its connection. */
    taken: z.optional(z.int()),
  }),
  /** The last frame, if the shell has ended. */
  z.looseObject({ type: z.literal("exit"), code: z.int() }),
  errorFrame,
]);

/** Frames from the server on `/files/watch`. */
export const watchFrame = z.discriminatedUnion("type", [
  z.looseObject({
    type: z.literal("change"),
    path: z.string(),
    event: z.enum(["created", "modified", "deleted", "renamed"]),
    /** The previous path of an entry that was renamed. */
    old_path: z.optional(z.string()),
    timestamp,
  }),
  /** Every change after this frame is reported. Sent only if the client asked for it with `ready`. */
  z.looseObject({ type: z.literal("ready"), path: z.string(), timestamp }),
  errorFrame,
]);

export type ExecuteStreamFrame = z.infer<typeof executeStreamFrame>;
export type TerminalFrame = z.infer<typeof terminalFrame>;
export type WatchFrame = z.infer<typeof watchFrame>;
