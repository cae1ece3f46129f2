import * as z from "zod/mini";

/** Headers of the request that reports the end of an asynchronous execution. */
export const webhookHeaders = {
  /** `sha256=` and the hex HMAC-SHA-256 of the raw body, where a secret was given. */
  signature: "X-HOPX-Signature",
  /** Unix seconds of the attempt. */
  timestamp: "X-HOPX-Timestamp",
  /** The same for every attempt, so that a receiver can tell a repetition. An extension. */
  delivery: "X-HOPX-Delivery",
} as const;

/** What that request tells. The fields from `sandbox_id` on are extensions. */
export const webhookPayload = z.looseObject({
  execution_id: z.string(),
  status: z.enum(["completed", "failed", "timeout"]),
  success: z.optional(z.boolean()),
  stdout: z.string(),
  stderr: z.string(),
  exit_code: z.int(),
  /** Seconds. */
  execution_time: z.number(),
  /** RFC 3339. */
  timestamp: z.string(),
  /** Why it failed, where that is no doing of the code. */
  error: z.optional(z.string()),
  sandbox_id: z.optional(z.string()),
  termination_reason: z.optional(z.string()),
  /** Whether `stdout` has beginning and end only. */
  stdout_truncated: z.optional(z.boolean()),
  stderr_truncated: z.optional(z.boolean()),
});

export type WebhookPayload = z.infer<typeof webhookPayload>;
