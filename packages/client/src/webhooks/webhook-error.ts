import { SandboxError, type SandboxErrorOptions } from "../errors/errors.js";

/**
 * A report that must not be believed. `code` says why: `WEBHOOK_SIGNATURE_MISSING`, `WEBHOOK_SIGNATURE_INVALID`,
 * `WEBHOOK_TIMESTAMP_INVALID`, `WEBHOOK_TIMESTAMP_REFUSED`, `WEBHOOK_PAYLOAD_INVALID`.
 */
export class WebhookVerificationError extends SandboxError {
  /** Its class, also where a bundler has renamed that. */
  override get name(): string {
    return "WebhookVerificationError";
  }

  constructor(options: SandboxErrorOptions & { code: `WEBHOOK_${string}` }) {
    super(options);
  }
}
