import { expect, test, vi } from "vitest";
import { call, deferred, each, later } from "../src/transport/deferred.js";

interface Book {
  readonly title: string;
  readonly cover: { colour(): Promise<string> };
  page(number: number): Promise<string>;
  pages(): AsyncGenerator<string, void, void>;
  close(): void;
  mark(name: string): { read(): Promise<string> };
}

/** A book, and what was done with it. */
function book() {
  const log: string[] = [];
  const noted = <Value>(what: string, value: Value): Value => {
    log.push(what);
    return value;
  };
  const load = vi.fn(
    async (): Promise<Book> => ({
      title: "another",
      cover: { colour: async () => noted("colour", "red") },
      page: async (number) => noted(`page ${number}`, `text ${number}`),
      async *pages() {
        yield noted("pages", "first");
        yield "second";
      },
      close: () => noted("close", undefined),
      mark: (name) => noted(`mark ${name}`, { read: async () => `at ${name}` }),
    }),
  );
  const members = {
    cover: { has: { colour: call } },
    page: call,
    pages: each,
    close: later,
    mark: { gives: { read: call } },
  } as const;
  return { log, load, standIn: deferred<Book, "title">(load, members, { title: "a book" }) };
}

test("what is known needs no code, and neither does a member that is not called", async () => {
  const { load, standIn } = book();
  expect(standIn.title).toBe("a book");
  standIn.pages();
  standIn.mark("here");
  expect(Object.keys(standIn)).toEqual(["title", "cover", "page", "pages", "close", "mark"]);
  expect(load).not.toHaveBeenCalled();
});

test("calls are made once the code is there, in their order, which is loaded once", async () => {
  const { load, log, standIn } = book();
  standIn.close();
  const [page, colour] = await Promise.all([standIn.page(1), standIn.cover.colour()]);
  expect([page, colour, await standIn.page(2)]).toEqual(["text 1", "red", "text 2"]);
  expect(log).toEqual(["close", "page 1", "colour", "page 2"]);
  expect(load).toHaveBeenCalledTimes(1);
});

test("what is read piece by piece begins with the first read", async () => {
  const { log, standIn } = book();
  const pages = standIn.pages();
  expect(log).toEqual([]);
  const read: string[] = [];
  for await (const page of pages) read.push(page);
  expect(read).toEqual(["first", "second"]);
});

test("what a method gives is stood in for too, and made once", async () => {
  const { log, standIn } = book();
  const mark = standIn.mark("here");
  expect([await mark.read(), await mark.read()]).toEqual(["at here", "at here"]);
  expect(log).toEqual(["mark here"]);
});

test("code that cannot be loaded is the failure of the call", async () => {
  const standIn = deferred<{ page(): Promise<string>; close(): void }>(
    () => Promise.reject(new Error("no such file")),
    { page: call, close: later },
  );
  standIn.close();
  await expect(standIn.page()).rejects.toThrow("no such file");
});
