import { exportJWK, exportSPKI, generateKeyPair, SignJWT } from "jose";

const keys = generateKeyPair("EdDSA", { extractable: true });

export const publicKey = async () => exportSPKI((await keys).publicKey);

export const publicJwk = async () => exportJWK((await keys).publicKey);

export interface TokenFields {
  readonly sub: string;
  readonly iss?: string;
  /** Life of the token, as the library jose writes durations: `1h`, `-1s`. */
  readonly expires?: string;
}

export async function signToken({
  sub,
  iss = "cloud-sandbox",
  expires = "1h",
}: TokenFields): Promise<string> {
  const { privateKey } = await keys;
  return unsigned(sub, iss, expires).sign(privateKey);
}

/** A token like those of `signToken`, signed with a key that the agent does not know. */
export async function forgeToken(sub: string): Promise<string> {
  const { privateKey } = await generateKeyPair("EdDSA");
  return unsigned(sub, "cloud-sandbox", "1h").sign(privateKey);
}

const unsigned = (sub: string, iss: string, expires: string) =>
  new SignJWT()
    .setProtectedHeader({ alg: "EdDSA" })
    .setIssuer(iss)
    .setSubject(sub)
    .setIssuedAt()
    .setExpirationTime(expires);
