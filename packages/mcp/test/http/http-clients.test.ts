import { expect, onTestFinished, test } from "vitest";
import { type HttpClient, HttpClients } from "../../src/http/http-clients.js";

const forever = new Promise<void>(() => undefined);

/** Clients of an HTTP server that has room for four, and the keys of those that were ended. */
function clientsOf(most = 4) {
  const ended: string[] = [];
  const clients = new HttpClients<HttpClient>({ most, idleMs: 60_000 });
  onTestFinished(() => clients.close());
  const add = (key: string, tokenDigest: string, isBusy = false): boolean => {
    const session = {
      isBusy,
      hasNames: false,
      abandon: async () => undefined,
      settled: async () => undefined,
    } as unknown as HttpClient["session"];
    const isAdded = clients.add(key, {
      ...{ session, tokenDigest },
      disconnect: async () => void ended.push(key),
    });
    if (isAdded && isBusy) clients.note(key, forever);
    return isAdded;
  };
  return { add, ended };
}

test("a token with many clients makes room for itself, and not at the expense of another", () => {
  const { add, ended } = clientsOf();
  for (const key of ["b1", "a1", "a2", "a3"]) expect(add(key, key.charAt(0))).toBe(true);
  expect(add("a4", "a")).toBe(true);
  expect(ended).toEqual(["a1"]);
  expect(add("c1", "c")).toBe(true);
  expect(ended).toEqual(["a1", "a2"]);
});

test("a token whose clients all have open streams makes room for others if it has more than half", () => {
  const { add, ended } = clientsOf();
  for (const key of ["b1", "a1", "a2", "a3"]) add(key, key.charAt(0), true);
  expect(add("a4", "a")).toBe(false);
  expect(add("b2", "b", true)).toBe(true);
  expect(ended).toEqual(["a1"]);
  expect(add("b3", "b")).toBe(false);
  expect(ended).toEqual(["a1"]);
});
