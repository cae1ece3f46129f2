import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type IssuedToken, TokenCache } from "../../src/agent/token-cache.js";

const second = 1000;
const minute = 60 * second;
const start = Date.UTC(2030, 0, 1);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: start });
});
afterEach(() => void vi.useRealTimers());

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
/** A token with these claims. Its signature is not valid, because the client does not check it. */
const tokenOf = (claims: unknown): string => `e30.${encoded(claims)}.c2ln`;
/** A token with a life in seconds. `pad` adds the two characters to its text in which base64url differs from base64. */
const living = (seconds: number): string =>
  tokenOf({ iat: 1_000_000, exp: 1_000_000 + seconds, pad: "ÿþ>>>???" });

/** A cache with a token in it. `count` gives the number of tokens that it has asked for. */
function holding(issued: IssuedToken, renewed: IssuedToken = { value: "renewed", expiresAt: undefined }) {
  let asked = 0;
  const cache = new TokenCache(async () => {
    asked += 1;
    return renewed;
  });
  cache.accept(issued);
  return { cache, count: () => asked };
}

const endsIn = (milliseconds: number): Date => new Date(start + milliseconds);
const opaque = { value: "opaque", expiresAt: undefined };

describe("a token", () => {
  test.each<[string, IssuedToken, number]>([
    ["of ten seconds", { value: living(10), expiresAt: undefined }, 9 * second],
    ["of 50 minutes", { value: living(3000), expiresAt: undefined }, 45 * minute],
    ["of an hour", { value: living(3600), expiresAt: undefined }, 55 * minute],
    ["of a day", { value: living(86_400), expiresAt: undefined }, 1435 * minute],
    [
      "of its own life, whatever the server says",
      { value: living(10), expiresAt: endsIn(minute) },
      9 * second,
    ],
    ["that tells no life, by the server's word", { value: "opaque", expiresAt: endsIn(minute) }, 54 * second],
    ["without claims", { value: tokenOf(null), expiresAt: endsIn(minute) }, 54 * second],
    ["whose claims are text", { value: tokenOf("iat exp"), expiresAt: endsIn(minute) }, 54 * second],
    ["that tells no beginning", { value: tokenOf({ exp: 1 }), expiresAt: endsIn(minute) }, 54 * second],
    ["that tells no end", { value: tokenOf({ iat: 1 }), expiresAt: endsIn(minute) }, 54 * second],
    ["that begins in text", { value: tokenOf({ iat: "1", exp: 9 }), expiresAt: endsIn(minute) }, 54 * second],
    ["that ends in text", { value: tokenOf({ iat: 1, exp: "9" }), expiresAt: endsIn(minute) }, 54 * second],
    ["of no JSON", { value: "a.!.c", expiresAt: endsIn(minute) }, 54 * second],
  ])("%s is used until it is due, and then renewed", async (_, issued, due) => {
    const { cache, count } = holding(issued);
    expect(cache.value).toBe(issued.value);
    vi.setSystemTime(start + due - 1);
    expect(cache.current()).toBe(issued.value);
    expect(count()).toBe(0);
    vi.setSystemTime(start + due);
    expect(await cache.current()).toBe("renewed");
    expect(cache.value).toBe("renewed");
    expect(count()).toBe(1);
  });

  test.each<[string, IssuedToken]>([
    ["of no time", opaque],
    ["that ends now", { value: "opaque", expiresAt: endsIn(0) }],
    ["that has ended", { value: "opaque", expiresAt: endsIn(-minute) }],
    ["of no life", { value: living(0), expiresAt: endsIn(minute) }],
    ["of less than no life", { value: living(-5), expiresAt: endsIn(minute) }],
  ])("%s is used until it is refused", async (_, issued) => {
    const { cache, count } = holding(issued);
    vi.setSystemTime(start + 10_000 * minute);
    expect(cache.current()).toBe(issued.value);
    expect(count()).toBe(0);
    expect(await cache.replace(issued.value)).toBe(true);
    expect(cache.current()).toBe("renewed");
  });

  test("that is refused and comes back the same cannot be replaced", async () => {
    const { cache, count } = holding(opaque, opaque);
    expect(await cache.replace("opaque")).toBe(false);
    expect(count()).toBe(1);
  });

  test("is not requested again if another one than the refused is there already", async () => {
    const { cache, count } = holding(opaque);
    expect(await cache.replace("older")).toBe(true);
    expect(cache.value).toBe("opaque");
    expect(count()).toBe(0);
  });

  test("that is refused and already forgotten is replaced all the same", async () => {
    const cache = new TokenCache(async () => ({ value: "renewed", expiresAt: undefined }));
    expect(await cache.replace("older")).toBe(true);
    expect(cache.value).toBe("renewed");
  });

  test("that is renewed is given with its end", async () => {
    const renewed = { value: "renewed", expiresAt: endsIn(minute) };
    expect(await holding(opaque, renewed).cache.renew()).toEqual(renewed);
  });
});

describe("a renewal of a token", () => {
  test("is shared by all calls that wait, and the next renewal is another", async () => {
    let asked = 0;
    const cache = new TokenCache(async () => ({ value: `${++asked}`, expiresAt: undefined }));
    expect(cache.value).toBeUndefined();
    expect(await Promise.all([cache.current(), cache.current(), cache.renew()])).toEqual([
      "1",
      "1",
      { value: "1", expiresAt: undefined },
    ]);
    expect(await cache.renew()).toMatchObject({ value: "2" });
  });

  test.each<[string, IssuedToken | undefined, number, boolean]>([
    [
      "before the end of the token at hand is waited out",
      { value: living(10), expiresAt: undefined },
      9.999,
      true,
    ],
    ["at its end is an error", { value: living(10), expiresAt: undefined }, 10, false],
    ["without a token at hand is an error", undefined, 0, false],
  ])("that fails %s is followed by another one", async (_, issued, seconds, isServed) => {
    let isDown = true;
    const cache = new TokenCache(async () => {
      if (isDown) throw new Error("no network");
      return { value: "renewed", expiresAt: undefined };
    });
    if (issued) cache.accept(issued);
    vi.setSystemTime(start + seconds * second);
    const said = await Promise.resolve(cache.current()).catch(String);
    expect(said).toBe(isServed ? issued?.value : "Error: no network");
    isDown = false;
    expect(await cache.current()).toBe("renewed");
  });

  test("that fails while a refused token is replaced is an error", async () => {
    const cache = new TokenCache(() => Promise.reject(new Error("no network")));
    cache.accept({ value: living(10), expiresAt: undefined });
    await expect(cache.replace(living(10))).rejects.toThrow("no network");
    expect(cache.value).toBeUndefined();
  });
});
