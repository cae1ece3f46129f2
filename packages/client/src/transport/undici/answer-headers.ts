import type { AnswerHeaders } from "../http/transport.js";

/** The headers of an answer in the form in which this client reads them. undici has a list for one that came several times. */
export function answerHeaders(raw: Record<string, string | string[] | undefined>): AnswerHeaders {
  const headers: Record<string, string> = {};
  for (const name in raw) {
    const value = raw[name];
    if (value !== undefined) headers[name] = typeof value === "string" ? value : value.join(", ");
  }
  return headers;
}
