import { randomBytes } from "node:crypto";
import type { SettingsRepository } from "../store/settings-repository.js";
import { TokenIssuer } from "./token-issuer.js";

/** The API key: generated once and saved, so that clients keep working after a restart. */
export function persistentApiKey(settings: SettingsRepository | undefined): string {
  const saved = settings?.get("api_key");
  if (saved !== undefined) return saved;
  const generated = randomBytes(24).toString("base64url");
  settings?.set("api_key", generated);
  return generated;
}

/** A token issuer whose key is saved, so that tokens stay valid across restarts until they expire. */
export async function persistentTokenIssuer(settings: SettingsRepository | undefined): Promise<TokenIssuer> {
  const saved = settings?.get("signing_key");
  if (saved !== undefined)
    return TokenIssuer.open(saved).catch((cause: unknown) => {
      throw new Error("the signing key saved in its database cannot be read", { cause });
    });
  const issuer = TokenIssuer.create();
  if (settings) settings.set("signing_key", await issuer.exportKey());
  return issuer;
}
