import { randomBytes } from "node:crypto";
import type { Settings } from "../store/settings.js";
import { TokenIssuer } from "./token-issuer.js";

/** The API key: generated once and saved, so that clients keep working after a restart. */
export async function persistentApiKey(settings: Settings | undefined): Promise<string> {
  const generate = (): string => randomBytes(24).toString("base64url");
  return settings ? settings.once("api_key", generate) : generate();
}

/** A token issuer whose key is saved, so that tokens stay valid across restarts until they expire. */
export async function persistentTokenIssuer(settings: Settings | undefined): Promise<TokenIssuer> {
  if (!settings) return TokenIssuer.create();
  const key = await settings.once("signing_key", () => TokenIssuer.create().exportKey());
  return TokenIssuer.open(key).catch((cause: unknown) => {
    throw new Error("the signing key saved in its database cannot be read", { cause });
  });
}
