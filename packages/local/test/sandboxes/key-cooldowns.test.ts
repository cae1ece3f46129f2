import { expect, test } from "vitest";
import { KeyCooldowns } from "../../src/tokens/key-ring.js";

const minuteMs = 60_000;

/** KeyCooldowns of one key, and the seconds that it has to wait at a time in milliseconds. */
function keyCooldowns() {
  let now = 0;
  const cooldowns = new KeyCooldowns(() => now);
  return {
    begin: (at: number): void => {
      now = at;
      cooldowns.begin("key");
    },
    secondsAt(at: number): number {
      now = at;
      try {
        cooldowns.requireOver("key");
        return 0;
      } catch (error) {
        return (error as { details: { retry_after_seconds: number } }).details.retry_after_seconds;
      }
    },
  };
}

test("a cooldown doubles each time, up to a minute", () => {
  const { begin, secondsAt } = keyCooldowns();
  const seconds = [0, 1, 2, 3, 4, 5, 6, 7].map((count) => {
    begin(count * minuteMs);
    return secondsAt(count * minuteMs);
  });
  expect(seconds).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
});

test("a cooldown tells what is left of it, and begins anew after ten minutes", () => {
  const { begin, secondsAt } = keyCooldowns();
  begin(0);
  begin(1000);
  expect([1000, 1001, 2500, 2999, 3000].map(secondsAt)).toEqual([2, 2, 1, 1, 0]);
  begin(12 * minuteMs);
  expect(secondsAt(12 * minuteMs)).toBe(1);
});

test("the server's own key has none", () => {
  const cooldowns = new KeyCooldowns();
  cooldowns.begin(undefined);
  cooldowns.requireOver(undefined);
});
