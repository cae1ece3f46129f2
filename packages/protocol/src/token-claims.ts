import * as z from "zod/mini";
import { tokenIssuer } from "./token-issuer.js";

/** The claims of the token that admits a caller to one sandbox's agent. Times are Unix seconds. */
export const tokenClaims = z.looseObject({
  iss: z.literal(tokenIssuer),
  /** The id of the sandbox, the only one the token opens. */
  sub: z.string().check(z.minLength(1)),
  iat: z.int(),
  exp: z.int(),
  /** Unique per token, so that one can be revoked. */
  jti: z.string().check(z.minLength(1)),
  /** Absent in what callers are given. */
  scope: z.optional(z.string()),
});

export type TokenClaims = z.infer<typeof tokenClaims>;
