import type { IncomingMessage } from "node:http";
import { Problem } from "@cloud-sandbox/server-kit";
import { bearerToken } from "@cloud-sandbox/server-kit/handlers";
import { claimsOf } from "../relay/forwarded-headers.js";

/**
 * Refuses sandbox tokens whose API key was revoked or has expired. The agent, which verifies tokens, does not know the keys.
 * The claim is not verified here: a token with a changed claim is refused by the agent.
 */
export class KeyGuard {
  /** `requireUsable` throws the problem that says why the key with this id may not be used. */
  constructor(private readonly requireUsable: (keyId: string) => void) {}

  /** The problem that refuses a request for an agent; undefined if the request may pass. */
  refusal({ headers }: Pick<IncomingMessage, "headers">): Problem | undefined {
    const { key } = claimsOf(bearerToken(headers.authorization));
    if (typeof key !== "string") return undefined;
    try {
      this.requireUsable(key);
      return undefined;
    } catch (error) {
      if (error instanceof Problem) return error;
      throw error;
    }
  }
}
