/**
 * Says of results that somebody else may have written what is in them. The protocol has no field for it yet (SEP-1913): clients
 * know the `openWorldHint` of tools; the mark on each result is for hosts that look for it.
 */

const mark = "io.github.cloud-sandbox/untrusted-content";

export const untrusted = { _meta: { [mark]: true } } as const;

/** What a tool's results are marked with. */
export function originOf({
  annotations,
}: {
  readonly annotations: { readonly openWorldHint: boolean };
}): Partial<typeof untrusted> {
  return annotations.openWorldHint ? untrusted : {};
}
