import { SandboxError, type SandboxErrorOptions } from "../errors/errors.js";

/**
 * A webhook request that must not be trusted. `code` says why: `WEBHOOK_SIGNATURE_MISSING`, `WEBHOOK_SIGNATURE_INVALID`,
 * `WEBHOOK_TIMESTAMP_INVALID`, `WEBHOOK_TIMESTAMP_REFUSED`, `WEBHOOK_PAYLOAD_INVALID`.
 */
export class WebhookVerificationError extends SandboxError {
  /** The class name; correct even if a bundler renames the class. */
  override get name(): string {
    return "WebhookVerificationError";
  }

  constructor(options: SandboxErrorOptions & { code: `WEBHOOK_${string}` }) {
    super(options);
  }
}
