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
    return tolerantText(bytes);
  }
}

/**
 * Decodes UTF-8 in which some bytes are none. A loop over the bytes: code in a sandbox decides how many of them are wrong, and an
 * exception of the decoder for each would keep the server busy for minutes.
 */
function tolerantText(bytes: Buffer): string {
  const units = Buffer.allocUnsafe(bytes.length * 2);
  let length = 0;
  const add = (unit: number): void => {
    length = units.writeUInt16LE(unit, length);
  };
  for (let at = 0; at < bytes.length; ) {
    const size = sizeOfCharacter(bytes, at);
    if (size === 0) add(0xdc00 + (bytes[at] ?? 0));
    else {
      // The first byte has the highest bits, after as many ones as there are bytes.
      let code = size === 1 ? (bytes[at] ?? 0) : (bytes[at] ?? 0) & (0xff >> (size + 1));
      for (let next = 1; next < size; next += 1) code = (code << 6) | ((bytes[at + next] ?? 0) & 0x3f);
      if (code < 0x10000) add(code);
      else {
        add(0xd7c0 + (code >> 10));
        add(0xdc00 + (code & 0x3ff));
      }
    }
    at += size || 1;
  }
  return units.toString("utf16le", 0, length);
}

/** How many bytes the character at a place has, by the table of RFC 3629; 0 if there is none. */
function sizeOfCharacter(bytes: Buffer, at: number): number {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  const size = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  const second = bytes[at + 1] ?? 0;
  const lowest = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
  const highest = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  if (second < lowest || second > highest) return 0;
  for (let next = 2; next < size; next += 1) if (((bytes[at + next] ?? 0) & 0xc0) !== 0x80) return 0;
  return size;
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
