import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";

/** The message for a cursor that this server never issued. */
export const unknownCursor = "This server did not issue the cursor; list again without it.";

const pageLength = 100;

export interface Page<Item> {
  readonly items: Item[];
  /** The cursor of the next page; absent on the last page. */
  readonly nextCursor?: string;
}

/** Returns one page of a long list, starting at a cursor. Reads only as much of the list as the page needs. */
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
  if (/^\d{1,9}$/.test(cursor) && Number(cursor) % pageLength === 0) return Number(cursor);
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, unknownCursor);
}
