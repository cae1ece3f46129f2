import { z } from "zod";

export const tokenIssuer = "cloud-sandbox";

/** The claims of the token that admits a caller to one sandbox's agent. Times are Unix seconds. */
export const tokenClaims = z.looseObject({
  iss: z.literal(tokenIssuer),
  /** The id of the sandbox, the only one the token opens. */
  sub: z.string().min(1),
  iat: z.number().int(),
  exp: z.number().int(),
  /** Unique per token, so that one can be revoked. */
  jti: z.string().min(1),
});

export type TokenClaims = z.infer<typeof tokenClaims>;
