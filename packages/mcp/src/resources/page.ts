import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";

const pageLength = 100;

export interface Page<Item> {
  readonly items: Item[];
  /** Where the next page begins; absent when this is the last. */
  readonly nextCursor?: string;
}

/** One page of a long list, from a cursor on. It reads no more of the list than the page needs. */
export async function pageOf<Item>(
  all: AsyncIterable<Item>,
  cursor: string | undefined,
): Promise<Page<Item>> {
  const start = position(cursor);
  const items: Item[] = [];
  let at = 0;
  for await (const item of all) {
    if (items.length === pageLength) return { items, nextCursor: String(at) };
    if (at >= start) items.push(item);
    at += 1;
  }
  return { items };
}

function position(cursor = "0"): number {
  if (/^\d{1,9}$/.test(cursor)) return Number(cursor);
  const message = "The cursor is not one of this server's; list again without it.";
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}
