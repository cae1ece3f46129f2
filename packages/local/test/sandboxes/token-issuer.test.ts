import { decodeJwt, decodeProtectedHeader, importSPKI, jwtVerify } from "jose";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { TokenIssuer } from "../../src/tokens/token-issuer.js";

const now = Date.UTC(2026, 0, 2, 3, 4, 5);
const day = 24 * 60 * 60;
const hourMs = 60 * 60 * 1000;

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], now: now + 789 }));
afterEach(() => void vi.useRealTimers());

const claimsOf = async (issuer: TokenIssuer, token: string) =>
  (await jwtVerify(token, await importSPKI(await issuer.publicKey(), "EdDSA"))).payload;

describe("a token", () => {
  test("is for one sandbox, for a day, signed with the key that machines know", async () => {
    const issuer = await TokenIssuer.create();
    const { token, expiresAt } = await issuer.issue("s");
    const { jti, ...claims } = await claimsOf(issuer, token);
    expect(claims).toEqual({ iss: "cloud-sandbox", sub: "s", iat: now / 1000, exp: now / 1000 + day });
    expect(jti).toMatch(/^[\da-f-]{36}$/);
    expect(expiresAt).toEqual(new Date(now + day * 1000));
    expect(decodeProtectedHeader(token)).toEqual({ alg: "EdDSA" });
  });

  test("is different each time", async () => {
    const issuer = await TokenIssuer.create();
    const [one, other] = [await issuer.issue("s"), await issuer.issue("s")];
    expect(decodeJwt(one.token).jti).not.toBe(decodeJwt(other.token).jti);
  });

  test("of the control plane itself is valid for a minute, and names its scope", async () => {
    const issuer = await TokenIssuer.create();
    const claims = await claimsOf(issuer, await issuer.issueOwn("s"));
    expect(claims).toMatchObject({ sub: "s", exp: now / 1000 + 60, scope: "control-plane" });
  });
});

describe("an issuer's key", () => {
  test("is used again by another issuer of the same store, and by no other", async () => {
    const issuer = await TokenIssuer.create();
    const again = await TokenIssuer.open(await issuer.exportKey());
    expect((await again.publicKey()).trim()).toBe((await issuer.publicKey()).trim());
    expect(await again.exportKey()).toBe(await issuer.exportKey());
    const { token } = await again.issue("s");
    expect(await claimsOf(issuer, token)).toMatchObject({ sub: "s" });
    await expect(claimsOf(await TokenIssuer.create(), token)).rejects.toThrow();
  });
});

describe("a token that was made in advance", () => {
  const prepared = async (waitMs: number, change: (issuer: TokenIssuer) => void = () => undefined) => {
    const issuer = await TokenIssuer.create();
    issuer.prepare("s");
    vi.setSystemTime(now + 789 + waitMs);
    change(issuer);
    const issuedAt = async (id: string) => decodeJwt((await issuer.issue(id)).token).iat;
    return { issuedAt, issuer };
  };

  test("is given to its sandbox only once", async () => {
    const { issuedAt } = await prepared(hourMs - 1000);
    expect(await issuedAt("other")).toBe(now / 1000 + 3599);
    expect(await issuedAt("s")).toBe(now / 1000);
    expect(await issuedAt("s")).toBe(now / 1000 + 3599);
  });

  test("is not given after an hour", async () => {
    const { issuedAt } = await prepared(hourMs);
    expect(await issuedAt("s")).toBe(now / 1000 + 3600);
  });

  test("is forgotten with its sandbox", async () => {
    const { issuedAt } = await prepared(5000, (issuer) => issuer.forget("s"));
    expect(await issuedAt("s")).toBe(now / 1000 + 5);
  });
});
