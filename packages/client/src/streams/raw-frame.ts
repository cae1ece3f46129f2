import { isModestJson } from "@cloud-sandbox/protocol/bounded-answers";

/** A received frame: a JSON object, not yet checked. */
export type RawFrame = Readonly<Record<string, unknown>>;

/** The frame that a text contains; undefined if it contains none. */
export function jsonObject(text: string): RawFrame | undefined {
  if (!isModestJson(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as RawFrame)
      : undefined;
  } catch {
    // The caller reports that the frame is not JSON.
    return undefined;
  }
}
