import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { eventHandlers, MemoryEvents, type NewEvent } from "../src/handlers/index.js";

const left = new AbortController();
let events: MemoryEvents;
let text: string;

beforeEach(() => {
  vi.useFakeTimers();
  events = new MemoryEvents();
  text = "";
});
afterEach(() => {
  vi.useRealTimers();
});

/** Reads a stream into `text`. */
function follow(query: Readonly<Record<string, string>>): void {
  const { streamEvents } = eventHandlers({
    events,
    keyId: undefined,
    requireSeen: () => undefined,
    metrics: async () => ({ cpu: 1 }),
    stream: (pieces) => pieces as never,
  });
  const exchange = { query, header: () => undefined, signal: left.signal };
  const { body } = (streamEvents as (exchange: unknown) => { body: AsyncIterable<string> })(exchange);
  void (async () => {
    for await (const piece of body) text += piece;
  })();
}

/** Records events of another sandbox. */
async function record(count: number, thenMs: number): Promise<void> {
  const other: NewEvent = { type: "execution.ended", at: new Date(), sandboxId: "other", facts: {} };
  events.record(Array<NewEvent>(count).fill(other));
  await vi.advanceTimersByTimeAsync(thenMs);
}

async function passSeconds(seconds: number): Promise<void> {
  for (let half = 0; half < 2 * seconds; half += 1) await record(1, 500);
}

test("metrics come once a second, however much happens in other sandboxes", async () => {
  follow({ sandbox_id: "mine", types: "sandbox.metrics" });
  await passSeconds(10);
  const count = text.split("event: sandbox.metrics").length - 1;
  expect(count).toBeGreaterThanOrEqual(9);
  expect(count).toBeLessThanOrEqual(10);
});

test("a stream that gets none of many events is not silent for longer than others", async () => {
  follow({ sandbox_id: "mine" });
  await passSeconds(16);
  expect(text.split("\n\n").length - 1).toBe(2);
});

test("a stream that gets no event for long goes on where it was", async () => {
  follow({ sandbox_id: "mine" });
  for (let count = 0; count < 50; count += 1) await record(1000, 0);
  await passSeconds(16);
  const since = [...text.matchAll(/^id: (\S+)$/gm)].at(-1)?.[1] ?? "";
  text = "";
  expect(() => follow({ sandbox_id: "mine", since })).not.toThrow();
  await vi.advanceTimersByTimeAsync(0);
  expect(text).toContain(`id: ${since}\nevent: opened`);
});
