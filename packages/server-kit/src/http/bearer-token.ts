/** The token of an `Authorization: Bearer` header, or an empty string. */
export function bearerToken(header: string | string[] | undefined): string {
  const value = Array.isArray(header) ? header[0] : header;
  return /^Bearer\s+(\S+)\s*$/i.exec(value ?? "")?.[1] ?? "";
}
