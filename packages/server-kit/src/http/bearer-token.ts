/** The token of an `Authorization: Bearer` header. Empty if there is none. */
export function bearerToken(header: string | string[] | undefined): string {
  const value = Array.isArray(header) ? header[0] : header;
  return /^Bearer\s+(\S+)\s*$/i.exec(value ?? "")?.[1] ?? "";
}
