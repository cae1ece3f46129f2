import { InvalidResponseError } from "../../errors/errors.js";

/** One page of a list. */
export interface Page<Item> {
  items: Item[];
  /** Whether the server says that there are more items. */
  hasMore: boolean;
  /** The cursor of the next page; undefined if the server gives none. */
  nextCursor: string | undefined;
}

/** A list that is fetched page by page while it is read: `for await (const item of list)`. */
export class PaginatedList<Item> implements AsyncIterable<Item> {
  readonly #fetch: (cursor: string | undefined) => Promise<Page<Item>>;

  /** @internal */
  static of<Item>(fetch: (cursor: string | undefined) => Promise<Page<Item>>): PaginatedList<Item> {
    return new PaginatedList(fetch);
  }

  private constructor(fetch: (cursor: string | undefined) => Promise<Page<Item>>) {
    this.#fetch = fetch;
  }

  /** Yields every item. Fetches a page when it is reached. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const page of this.pages()) yield* page.items;
  }

  /** Yields the list page by page. Ends at a page without a cursor, whatever its `hasMore` says. */
  async *pages(): AsyncGenerator<Page<Item>, void, undefined> {
    const seen = new Set<string>();
    let cursor: string | undefined;
    do {
      const page = await this.#fetch(cursor);
      yield page;
      cursor = page.hasMore ? page.nextCursor : undefined;
      if (cursor !== undefined && seen.has(cursor)) throw repeated();
      seen.add(cursor ?? "");
    } while (cursor !== undefined);
  }
}

function repeated(): InvalidResponseError {
  return new InvalidResponseError({
    summary: "The server gave the same cursor twice, so its list would never end.",
    hint: "Report this to the server's operator; filters make the list fit on one page.",
    code: "CURSOR_REPEATED",
  });
}
