/** The bytes of a base64 text. Undefined if it is none, because the answer may come from a hostile sandbox. */
export function base64Bytes(text: unknown): Uint8Array | undefined {
  if (typeof text !== "string") return undefined;
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
