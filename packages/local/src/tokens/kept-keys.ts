import { randomBytes } from "node:crypto";
import type { SettingsRepository } from "../store/settings-repository.js";
import { TokenIssuer } from "./token-issuer.js";

/** The account's key: made up once, so that callers need not be told again after a restart. */
export function keptApiKey(settings: SettingsRepository | undefined): string {
  const kept = settings?.get("api_key");
  if (kept !== undefined) return kept;
  const made = randomBytes(24).toString("base64url");
  settings?.set("api_key", made);
  return made;
}

/** Signs with the same key after a restart, so that tokens stay valid until they expire. */
export async function keptTokenIssuer(settings: SettingsRepository | undefined): Promise<TokenIssuer> {
  const kept = settings?.get("signing_key");
  if (kept !== undefined)
    return TokenIssuer.open(kept).catch((cause: unknown) => {
      throw new Error("the signing key that is kept there cannot be read", { cause });
    });
  const issuer = await TokenIssuer.create();
  settings?.set("signing_key", await issuer.exportKey());
  return issuer;
}
