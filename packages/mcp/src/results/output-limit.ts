/** Cuts results to a size that models can take: head and tail stay, and the result says how much was cut. */

/**
 * Most bytes of program output, file text or list entries in one result, as they are written in JSON. Clients drop
 * or cut results over some 25,000 tokens; this limit stays far below that, whatever the text's language.
 */
export const resultBudget = 30_000;

export interface LimitedText {
  readonly text: string;
  /** Bytes of the whole text, as UTF-8. */
  readonly totalBytes: number;
  /** Bytes of the middle that were left out; 0 when `text` is whole. */
  readonly omittedBytes: number;
}

/**
 * Cuts the middle out of `whole` so that at most `budget` bytes remain. Where `whole` is itself only the head and
 * tail of something longer, `missingBytes` says how much it lacks.
 */
export function cutMiddle(whole: string, budget: number, missingBytes = 0): LimitedText {
  const totalBytes = Buffer.byteLength(whole) + missingBytes;
  if (jsonBytes(whole, budget) <= budget) return { text: whole, totalBytes, omittedBytes: 0 };
  const half = Math.floor(budget / 2);
  const head = whole.slice(0, prefixLength(whole, half));
  const tail = whole.slice(whole.length - suffixLength(whole, half));
  const omittedBytes = totalBytes - Buffer.byteLength(head) - Buffer.byteLength(tail);
  const text = `${head}\n[… ${omittedBytes} of ${totalBytes} bytes left out …]\n${tail}`;
  return { text, totalBytes, omittedBytes };
}

/** Bytes that the text of a stream lacks. It is an estimate: bytes that are not UTF-8 are longer as text. */
export function bytesMissing(text: string, { bytes = 0 }: { readonly bytes: number | undefined }): number {
  return Math.max(0, bytes - Buffer.byteLength(text));
}

/** Cuts the middle out of `whole` so that `most` characters of it remain. */
export function limitCharacters(whole: string, most: number): string {
  if (whole.length <= most) return whole;
  const head = whole.slice(0, Math.ceil(most / 2));
  const tail = whole.slice(whole.length - Math.floor(most / 2));
  const text = `${head}\n[… ${whole.length - most} of ${whole.length} characters left out …]\n${tail}`;
  // A cut in the middle of a character leaves replacement characters, which are removed.
  return Buffer.from(text).toString();
}

/** Splits a budget between two texts: each gets what it needs, or half and what the other leaves over. */
export function shareBudget(first: string, second: string, budget: number): [first: number, second: number] {
  const half = Math.floor(budget / 2);
  const needed = [jsonBytes(first, budget), jsonBytes(second, budget)] as const;
  if (needed[0] <= half) return [half, budget - needed[0]];
  return needed[1] <= half ? [budget - needed[1], half] : [half, half];
}

export interface EntryLimit {
  readonly limit: number;
  /** Says that fewer entries are returned than were asked for. */
  readonly note: string | undefined;
}

/** The number of entries to return when `most` are possible and -1 asks for all. */
export function entryLimit(asked: number, most: number): EntryLimit {
  if (asked !== -1 && asked <= most) return { limit: asked, note: undefined };
  const note = asked === -1 ? undefined : `${asked} entries were asked for; ${most} is the most of one call.`;
  return { limit: most, note };
}

export interface LimitedList<Item> {
  readonly items: Item[];
  readonly truncated: boolean;
}

/** The first entries: at most `maxResults`, and no more than the budget holds. */
export function firstEntries<Item>(
  entries: readonly Item[],
  maxResults: number,
  budget = resultBudget,
): LimitedList<Item> {
  const items: Item[] = [];
  let left = budget;
  for (const entry of entries.slice(0, maxResults)) {
    left -= Buffer.byteLength(JSON.stringify(entry)) + 1;
    if (left < 0) break;
    items.push(entry);
  }
  return { items, truncated: items.length < entries.length };
}

/** Bytes of `text` inside a JSON string, counted only until they exceed `enough`. */
export function jsonBytes(text: string, enough: number): number {
  let bytes = 0;
  for (const character of text) {
    bytes += characterBytes(character);
    if (bytes > enough) break;
  }
  return bytes;
}

/** Length of the longest beginning of `text` that fits; never half a character. */
function prefixLength(text: string, budget: number): number {
  let bytes = 0;
  let length = 0;
  for (const character of text) {
    bytes += characterBytes(character);
    if (bytes > budget) break;
    length += character.length;
  }
  return length;
}

function suffixLength(text: string, budget: number): number {
  let bytes = 0;
  let start = text.length;
  while (start > 0) {
    const isPair =
      /[\udc00-\udfff]/.test(text.charAt(start - 1)) && /[\ud800-\udbff]/.test(text.charAt(start - 2));
    const character = text.slice(start - (isPair ? 2 : 1), start);
    bytes += characterBytes(character);
    if (bytes > budget) break;
    start -= character.length;
  }
  return text.length - start;
}

function characterBytes(character: string): number {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return code >= 0x08 && code <= 0x0d && code !== 0x0b ? 2 : 6;
  if (code < 0x80) return character === '"' || character === "\\" ? 2 : 1;
  if (code < 0x800) return 2;
  if (code >= 0xd800 && code <= 0xdfff) return 6;
  return code < 0x10000 ? 3 : 4;
}
