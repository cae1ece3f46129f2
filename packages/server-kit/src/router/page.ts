import { Problem } from "../http/problem.js";

export interface Page<Item> {
  readonly items: readonly Item[];
  /** Cursor of the next page; undefined on the last. */
  readonly nextCursor: string | undefined;
}

/**
 * One page of a list in descending order of `key`. The cursor contains the last key returned, so that items added or
 * removed in between do not shift pages.
 */
export function pageOf<Item>(
  items: readonly Item[],
  key: (item: Item) => string,
  { limit: asked, cursor }: { limit: number; cursor: string | undefined },
): Page<Item> {
  // The first generation of HOPX's MCP server asks for all with -1.
  const limit = asked === -1 ? items.length : asked;
  const after = cursor === undefined ? undefined : decodeCursor(cursor);
  const sorted = items.toSorted((a, b) => (key(a) < key(b) ? 1 : -1));
  const rest = after === undefined ? sorted : sorted.filter((item) => key(item) < after);
  const page = rest.slice(0, limit);
  const last = page.at(-1);
  return {
    items: page,
    nextCursor: last !== undefined && rest.length > limit ? encodeCursor(key(last)) : undefined,
  };
}

const version = "1:";

function encodeCursor(key: string): string {
  const bytes = new TextEncoder().encode(version + key);
  const base64 = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return base64.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function decodeCursor(cursor: string): string {
  const text = textOf(cursor) ?? "";
  if (!text.startsWith(version)) {
    throw new Problem(400, "INVALID_REQUEST", "cursor was not issued by this server.", {
      hint: "List again from the start, without cursor.",
    });
  }
  return text.slice(version.length);
}

function textOf(cursor: string): string | undefined {
  try {
    const bytes = atob(cursor.replaceAll("-", "+").replaceAll("_", "/"));
    return new TextDecoder().decode(Uint8Array.from(bytes, (byte) => byte.charCodeAt(0)));
  } catch {
    return undefined;
  }
}
