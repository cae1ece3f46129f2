/**
 * Marks results whose content anybody may have written. The protocol has no field for that yet (SEP-1913): clients see the
 * `openWorldHint` of tools, and this mark on each result is for hosts that look for it.
 */

const mark = "io.github.cloud-sandbox/untrusted-content";

export const untrusted = { _meta: { [mark]: true } } as const;

/** The mark of a tool's results, or nothing. */
export function originOf({
  openWorldHint,
}: {
  readonly openWorldHint?: boolean | undefined;
}): Partial<typeof untrusted> {
  return openWorldHint === true ? untrusted : {};
}
