import { Problem } from "../../http/problem.js";
import type { UnauthenticatedCall } from "../../router/contract-service.js";

/**
 * Checks the API key of a request and returns whose it is. `find` returns undefined for an unknown key. Throws a 401 problem
 * if the key is missing or wrong.
 */
export function authenticateAccount<Account>(
  { header }: UnauthenticatedCall,
  find: (key: string) => Account | undefined,
): Account {
  const key = header("x-api-key") ?? bearerToken(header("authorization"));
  if (key === "") {
    const message = "The request has no API key.";
    throw new Problem(401, "AUTHENTICATION_REQUIRED", message, {
      hint: "Send the API key as X-API-Key, or as Authorization: Bearer.",
      headers: { "www-authenticate": "Bearer" },
    });
  }
  const account = find(key);
  if (account === undefined) {
    throw new Problem(401, "INVALID_API_KEY", "This API key is not valid for this control plane.", {
      hint: "Check CLOUD_SANDBOX_API_KEY.",
      headers: { "www-authenticate": 'Bearer error="invalid_token"' },
    });
  }
  return account;
}

/** The token of an `Authorization: Bearer` header. Empty if there is none. */
export function bearerToken(header: string | string[] | undefined): string {
  const value = Array.isArray(header) ? header[0] : header;
  return /^Bearer\s+(\S+)\s*$/i.exec(value ?? "")?.[1] ?? "";
}
