/**
 * A path or name with one character for each byte. Names on Linux need not be UTF-8, and a string that was decoded could lead to
 * another file.
 */
export type BytePath = string;

export const bytesOf = (path: BytePath): Buffer => Buffer.from(path, "latin1");

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The text of a path. A byte that is no UTF-8 becomes a lone surrogate, U+DC80 to U+DCFF, as in Python. */
export function textOf(path: BytePath): string {
  const bytes = bytesOf(path);
  try {
    return strict.decode(bytes);
  } catch {
    let text = "";
    for (let at = 0; at < bytes.length; ) {
      const { character, length } = firstCharacter(bytes.subarray(at, at + 4));
      text += character;
      at += length;
    }
    return text;
  }
}

function firstCharacter(bytes: Buffer): { character: string; length: number } {
  for (let length = 1; length <= bytes.length; length += 1)
    try {
      return { character: strict.decode(bytes.subarray(0, length)), length };
    } catch {
      // The character may have more bytes.
    }
  return { character: String.fromCharCode(0xdc00 + (bytes[0] ?? 0)), length: 1 };
}

/** The path that has this text. */
export function bytePathOf(text: string): BytePath {
  let path = "";
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    path +=
      code >= 0xdc80 && code <= 0xdcff
        ? String.fromCharCode(code - 0xdc00)
        : Buffer.from(character).toString("latin1");
  }
  return path;
}
