/** Writes the parts of ASN.1 in DER that a certificate is made of. Nothing is read here: X509Certificate of Node.js reads and verifies. */

const element = (tag: number, content: Uint8Array): Buffer => {
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
};

export const sequence = (...parts: readonly Uint8Array[]): Buffer => element(0x30, Buffer.concat(parts));
export const set = (...parts: readonly Uint8Array[]): Buffer => element(0x31, Buffer.concat(parts));
export const octets = (content: Uint8Array): Buffer => element(0x04, content);
export const boolean = (value: boolean): Buffer => element(0x01, Buffer.from([value ? 0xff : 0]));
export const text = (value: string): Buffer => element(0x0c, Buffer.from(value));

/** A positive integer of these bytes, the highest first. The first byte must be from 1 to 127, because more would be a negative number. */
export const integer = (bytes: Uint8Array): Buffer => element(0x02, bytes);

/** A string of bits. `unused`: how many of the last byte's bits do not count. */
export const bits = (content: Uint8Array, unused = 0): Buffer =>
  element(0x03, Buffer.concat([Buffer.from([unused]), content]));

/** A time from 1950 to 2049. */
export const time = (at: Date): Buffer =>
  element(0x17, Buffer.from(`${at.toISOString().replace(/^..|[-:T]|\.\d+/g, "")}`));

/** An element with a tag of its context: `[number]`. */
export const tagged = (number: number, content: Uint8Array, isConstructed: boolean): Buffer =>
  element((isConstructed ? 0xa0 : 0x80) | number, content);

/** An object identifier from its dotted form. */
export function identifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...others] = dotted.split(".").map(Number);
  return element(0x06, Buffer.from([40 * first + second, ...others.flatMap(base128)]));
}

/** A number in groups of seven bits. All but the last have their highest bit set. */
function base128(value: number): number[] {
  const groups = [value & 0x7f];
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) groups.unshift((rest & 0x7f) | 0x80);
  return groups;
}
