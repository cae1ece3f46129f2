import { randomBytes } from "node:crypto";

/** A new sandbox id in the cloud's format: seconds since 1970, then eight random base-36 characters. */
export function newSandboxId(): string {
  const random = randomBytes(8).readBigUInt64LE().toString(36).padStart(8, "0").slice(-8);
  return `${Math.floor(Date.now() / 1000)}${random}`;
}
