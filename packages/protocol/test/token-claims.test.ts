import { expect, test } from "vitest";
import { tokenClaims } from "../src/token-claims.js";
import { controlPlaneScope, tokenIssuer } from "../src/token-issuer.js";

const claims = { iss: "cloud-sandbox", sub: "sandbox", iat: 1, exp: 2, jti: "id" };

test("the claims of a token are read, with fields that a later version may add", () => {
  expect(tokenClaims.parse({ ...claims, later: true })).toMatchObject(claims);
});

test.each([
  { iss: "someone" },
  { sub: "" },
  { exp: "2" },
  { iat: 1.5 },
  { jti: undefined },
  { jti: "" },
  { scope: 1 },
])("claims with %j are refused", (wrong) => {
  expect(tokenClaims.safeParse({ ...claims, ...wrong }).success).toBe(false);
});

test("issuer and scope have the values that older machines know", () => {
  expect([tokenIssuer, controlPlaneScope]).toEqual(["cloud-sandbox", "control-plane"]);
});
