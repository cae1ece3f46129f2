/** Why there is no answer of a server that could be passed on, without what an error may repeat of its bytes. */
export function failedAnswer(whom: string, { code = "" }: NodeJS.ErrnoException): string {
  if (code === "HPE_HEADER_OVERFLOW") return `${whom} answered with more than 16 KiB of headers.`;
  if (code.startsWith("HPE_")) return `${whom} did not answer in HTTP.`;
  return `${whom} closed the connection before it answered.`;
}
