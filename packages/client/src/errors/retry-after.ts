/** Seconds in a Retry-After header: a number, or a date compared with the server's clock (the Date header). */
export function parseRetryAfter(headers: Readonly<Record<string, string>>): number | undefined {
  const header = headers["retry-after"]?.trim() ?? "";
  if (header === "") return undefined;
  const number = Number(header);
  if (Number.isFinite(number)) return number >= 0 ? number : undefined;
  const date = Date.parse(header);
  if (Number.isNaN(date)) return undefined;
  const now = Date.parse(headers.date ?? "") || Date.now();
  return Math.max(0, (date - now) / 1000);
}
