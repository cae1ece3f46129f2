import { InvalidResponseError } from "../errors/errors.js";

/** A page as the server gave it. */
export interface FetchedPage<Item> {
  items: Item[];
  hasMore: boolean;
  nextCursor: string | undefined;
}

type Fetch<Item> = (cursor: string | undefined) => Promise<FetchedPage<Item>>;

/**
 * One page of a list. `for` reads the items of this page alone, without a request; `for await` goes on with the pages after it.
 */
export class Page<Item> implements Iterable<Item>, AsyncIterable<Item> {
  readonly items: readonly Item[];
  /** Whether the server says that there are more items. */
  readonly hasMore: boolean;
  /** The cursor of the next page; undefined if the server gives none. */
  readonly nextCursor: string | undefined;
  readonly #fetch: Fetch<Item>;

  /** @internal */
  static of<Item>(page: FetchedPage<Item>, fetch: Fetch<Item>): Page<Item> {
    return new Page(page, fetch);
  }

  private constructor({ hasMore, items, nextCursor }: FetchedPage<Item>, fetch: Fetch<Item>) {
    this.items = items;
    this.hasMore = hasMore;
    this.nextCursor = nextCursor;
    this.#fetch = fetch;
  }

  /** Yields the items of this page. */
  [Symbol.iterator](): Iterator<Item> {
    return this.items[Symbol.iterator]();
  }

  /** Yields the items of this page and of all after it. Fetches a page when it is reached. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const page of this.pages()) yield* page.items;
  }

  /** Yields this page and all after it. Ends at a page without a cursor, whatever its `hasMore` says. */
  async *pages(): AsyncGenerator<Page<Item>, void, undefined> {
    const seen = new Set<string>();
    let page: Page<Item> = this;
    for (;;) {
      yield page;
      const cursor: string | undefined = page.hasMore ? page.nextCursor : undefined;
      if (cursor === undefined) return;
      if (seen.has(cursor)) throw repeated();
      seen.add(cursor);
      page = Page.of(await this.#fetch(cursor), this.#fetch);
    }
  }

  /** The items of this page and of all after it. */
  async all(): Promise<Item[]> {
    const items: Item[] = [];
    for await (const item of this) items.push(item);
    return items;
  }
}

/**
 * A list that the server gives in pages. `for await` reads all of it and fetches a page when it is reached. `await` gives the
 * first {@link Page}, as the lists of E2B and Stripe do: its `hasMore` says whether it is all. `all()` gives everything.
 */
export class PaginatedList<Item> implements AsyncIterable<Item>, PromiseLike<Page<Item>> {
  readonly #fetch: Fetch<Item>;

  /** @internal */
  static of<Item>(fetch: Fetch<Item>): PaginatedList<Item> {
    return new PaginatedList(fetch);
  }

  private constructor(fetch: Fetch<Item>) {
    this.#fetch = fetch;
  }

  /** Yields every item. Fetches a page when it is reached. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    yield* await this;
  }

  /** Yields the list page by page. Ends at a page without a cursor, whatever its `hasMore` says. */
  async *pages(): AsyncGenerator<Page<Item>, void, undefined> {
    yield* (await this).pages();
  }

  /** All items of all pages. */
  async all(): Promise<Item[]> {
    return (await this).all();
  }

  /** Fetches the first page. */
  // biome-ignore lint/suspicious/noThenProperty: `await list` is meant to give the first page
  then<Result = Page<Item>, Failure = never>(
    onPage?: ((page: Page<Item>) => Result | PromiseLike<Result>) | null,
    onError?: ((error: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Result | Failure> {
    return this.#fetch(undefined)
      .then((page) => Page.of(page, this.#fetch))
      .then(onPage, onError);
  }
}

function repeated(): InvalidResponseError {
  return new InvalidResponseError({
    summary: "The server gave the same cursor twice, so its list would never end.",
    hint: "Report this to the server's operator; filters make the list fit on one page.",
    code: "CURSOR_REPEATED",
  });
}
