import { controlPlaneScope, tokenIssuer } from "@cloud-sandbox/protocol";
import * as jose from "jose";
import { afterEach, describe, expect, test, vi } from "vitest";
import { TokenVerifier } from "../../src/access/token-verifier.js";

const keys = jose.generateKeyPair("EdDSA", { extractable: true });
const now = () => Math.floor(Date.now() / 1000);

async function sign(claims: Record<string, unknown> = {}): Promise<string> {
  const { privateKey } = await keys;
  const payload = { iss: tokenIssuer, sub: "s", exp: now() + 3600, ...claims };
  return new jose.SignJWT(payload).setProtectedHeader({ alg: "EdDSA" }).sign(privateKey);
}

/** What the verifier says of an `Authorization` header: `true`, or the code of its refusal. */
async function verdict(verifier: TokenVerifier, authorization: string | undefined): Promise<unknown> {
  return verifier.verify(authorization).catch((error: { code: string }) => error.code);
}

const made = async () => TokenVerifier.create(await jose.exportJWK((await keys).publicKey), "s");

/** Replaces the verifier's key, so that it accepts only tokens that it remembers. */
async function forgetful(verifier: TokenVerifier): Promise<void> {
  Reflect.set(verifier, "key", (await jose.generateKeyPair("EdDSA")).publicKey);
}

afterEach(() => void vi.useRealTimers());

describe("the verifier of tokens", () => {
  test("reads its key from text and from a JWK", async () => {
    const { publicKey } = await keys;
    const token = `Bearer ${await sign()}`;
    for (const key of [await jose.exportSPKI(publicKey), await jose.exportJWK(publicKey)])
      expect(await verdict(await TokenVerifier.create(key, "s"), token)).toBe(true);
  });

  test.each<[string, (token: string) => string | undefined, unknown]>([
    ["one space", (token) => `Bearer ${token}`, true],
    ["several spaces", (token) => `bearer   ${token}  `, true],
    ["something before", (token) => `x Bearer ${token}`, "AUTHENTICATION_REQUIRED"],
    ["something after", (token) => `Bearer ${token} x`, "AUTHENTICATION_REQUIRED"],
    ["no space", (token) => `Bearer${token}`, "AUTHENTICATION_REQUIRED"],
    ["no header", () => undefined, "AUTHENTICATION_REQUIRED"],
  ])("reads a header with %s", async (_, header, expected) => {
    expect(await verdict(await made(), header(await sign()))).toBe(expected);
  });

  test.each([
    ["no end", { exp: undefined }],
    ["another sandbox", { sub: "other" }],
    ["another issuer", { iss: "other" }],
  ])("refuses a token with %s", async (_, claims) => {
    expect(await verdict(await made(), `Bearer ${await sign(claims)}`)).toBe("INVALID_TOKEN");
  });

  test("reads tokens up to a length", async () => {
    const verifier = await made();
    const bare = (await sign({ pad: "" })).length;
    let at = await sign({ pad: "x".repeat(Math.floor(((8192 - bare) * 3) / 4)) });
    for (let pad = Math.floor(((8192 - bare) * 3) / 4); at.length < 8192; pad += 1)
      at = await sign({ pad: "x".repeat(pad) });
    expect(at).toHaveLength(8192);
    expect(await verdict(verifier, `Bearer ${at}`)).toBe(true);
    expect(await verdict(verifier, `Bearer ${await sign({ pad: "x".repeat(6200) })}`)).toBe("INVALID_TOKEN");
  });

  test("remembers a good token until it expires", async () => {
    const verifier = await made();
    const exp = now() + 3600;
    const token = `Bearer ${await sign({ exp })}`;
    expect(await verdict(verifier, token)).toBe(true);
    await forgetful(verifier);
    expect(await verdict(verifier, token)).toBe(true);
    vi.useFakeTimers({ toFake: ["Date"], now: exp * 1000 - 1 });
    expect(await verdict(verifier, token)).toBe(true);
    vi.setSystemTime(exp * 1000);
    expect(await verdict(verifier, token)).not.toBe(true);
  });

  test("remembers the 256 tokens that were used last, and no older one", async () => {
    const verifier = await made();
    const tokens = await Promise.all(Array.from({ length: 257 }, (_, jti) => sign({ jti: String(jti) })));
    for (const token of tokens) expect(await verdict(verifier, `Bearer ${token}`)).toBe(true);
    await forgetful(verifier);
    const known = await Promise.all(tokens.map((token) => verdict(verifier, `Bearer ${token}`)));
    expect(known[0]).toBe("INVALID_TOKEN");
    expect(known.slice(1).every((said) => said === true)).toBe(true);
  });

  test("does not remember a token that it refused, not even its own of the warm-up", async () => {
    const verifier = await made();
    const verify = vi.spyOn(verifier, "verify");
    await verifier.warmUp();
    const token = verify.mock.calls[0]?.[0] ?? "";
    expect(jose.decodeProtectedHeader(token.replace("Bearer ", ""))).toEqual({ alg: "EdDSA" });
    await expect(verify.mock.results[0]?.value).rejects.toMatchObject({ code: "INVALID_TOKEN" });
    expect(await verdict(verifier, token)).toBe("INVALID_TOKEN");
  });
});

test.each([
  ["the control plane's", { scope: controlPlaneScope }, undefined],
  ["a caller's", {}, "PERMISSION_DENIED"],
  ["one of another scope", { scope: "other" }, "PERMISSION_DENIED"],
  ["another sandbox's", { scope: controlPlaneScope, sub: "other" }, "INVALID_TOKEN"],
])("an operation of the control plane alone, asked for with a token that is %s", async (_, claims, code) => {
  const verifier = await made();
  const said = verifier.verifyControlPlane(`Bearer ${await sign(claims)}`);
  expect(await said.catch((error: { code: string }) => error.code)).toBe(code);
});

test("an operation of the control plane alone, asked for without a token, is refused", async () => {
  await expect((await made()).verifyControlPlane(undefined)).rejects.toMatchObject({
    code: "AUTHENTICATION_REQUIRED",
  });
});
