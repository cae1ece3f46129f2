/** Position of a call in a trace, in the format of W3C Trace Context. */
export interface TraceContext {
  /** `00-<32 hex digits>-<16 hex digits>-<2 hex digits>`. */
  traceparent: string;
  /** Vendor-specific data: at most 32 members and 512 characters. */
  tracestate?: string | undefined;
}

const traceparentForm = /^(?!ff)[\da-f]{2}-(?!0+-)[\da-f]{32}-(?!0+-)[\da-f]{16}-[\da-f]{2}$/;
const stateMember = /^[a-z\d][\w\-*/@]*=[\x20-\x2b\x2d-\x3c\x3e-\x7e]*$/;
const mostMembers = 32;
const longestState = 512;

/**
 * The trace headers. Malformed values are left out, as the standard requires: they often come from a third party, who
 * must not be able to break calls or inject headers.
 */
export function traceHeaders(context: Partial<TraceContext> | undefined): Record<string, string> | undefined {
  const { traceparent, tracestate } = context ?? {};
  if (typeof traceparent !== "string" || !traceparentForm.test(traceparent)) return undefined;
  return isState(tracestate) ? { traceparent, tracestate } : { traceparent };
}

function isState(text: unknown): text is string {
  if (typeof text !== "string" || text === "" || text.length > longestState) return false;
  const members = text.split(",").map((member) => member.trim());
  return members.length <= mostMembers && members.every((member) => stateMember.test(member));
}
