import * as z from "zod/mini";

/** Headers of the webhook request that reports the end of an asynchronous execution. */
export const webhookHeaders = {
  /** `sha256=` and the HMAC-SHA-256 of the raw body in hex. Only if a secret was given. */
  signature: "X-HOPX-Signature",
  /** Time of this delivery attempt, in Unix seconds. */
  timestamp: "X-HOPX-Timestamp",
  /**
   * Id of the delivery, the same for every attempt, so that a receiver can recognize a repetition. An extension of
   * HOPX's protocol.
   */
  delivery: "X-HOPX-Delivery",
} as const;

/** Body of the webhook request. The fields from `sandbox_id` on are extensions of HOPX's protocol. */
export const webhookPayload = z.looseObject({
  execution_id: z.string(),
  status: z.enum(["completed", "failed", "timeout"]),
  success: z.optional(z.boolean()),
  stdout: z.string(),
  stderr: z.string(),
  exit_code: z.int(),
  /** Duration in seconds. */
  execution_time: z.number(),
  /** Time of the report, in RFC 3339. */
  timestamp: z.string(),
  /** Why the execution failed, if the code was not the cause. */
  error: z.optional(z.string()),
  sandbox_id: z.optional(z.string()),
  termination_reason: z.optional(z.string()),
  /** Whether `stdout` contains only the beginning and the end of the output. */
  stdout_truncated: z.optional(z.boolean()),
  stderr_truncated: z.optional(z.boolean()),
});

export type WebhookPayload = z.infer<typeof webhookPayload>;
