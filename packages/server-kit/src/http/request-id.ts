const acceptable = /^[A-Za-z0-9._:-]{1,128}$/;

/** The id a request goes by in answers and logs: the caller's own where it is fit to be echoed. */
export function requestId(incoming: string | undefined): string {
  return incoming !== undefined && acceptable.test(incoming)
    ? incoming
    : `req_${globalThis.crypto.randomUUID().replaceAll("-", "")}`;
}
