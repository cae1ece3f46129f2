import * as z from "zod/mini";
import { tokenIssuer } from "./token-issuer.js";

/** Claims of the token that admits a caller to the agent of one sandbox. Times are Unix seconds. */
export const tokenClaims = z.looseObject({
  iss: z.literal(tokenIssuer),
  /** Id of the only sandbox that the token is valid for. */
  sub: z.string().check(z.minLength(1)),
  iat: z.int(),
  exp: z.int(),
  /** Id of the token, unique so that a single token can be revoked. */
  jti: z.string().check(z.minLength(1)),
  /** `scope` of the control plane's own tokens. Tokens for callers do not have it. */
  scope: z.optional(z.string()),
  /** Id of the API key that the token was issued to. A token of the server's own key does not have it. */
  key: z.optional(z.string()),
});

export type TokenClaims = z.infer<typeof tokenClaims>;
