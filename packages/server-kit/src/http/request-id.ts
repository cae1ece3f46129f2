const acceptable = /^[A-Za-z0-9._:-]{1,128}$/;

/** The id of a request in answers and logs: the one the caller sent, if it is valid, else a new one. */
export function requestId(incoming: string | undefined): string {
  return incoming !== undefined && acceptable.test(incoming)
    ? incoming
    : `req_${globalThis.crypto.randomUUID().replaceAll("-", "")}`;
}
