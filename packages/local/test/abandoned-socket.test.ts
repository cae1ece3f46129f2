import { getEventListeners } from "node:events";
import { Socket } from "node:net";
import { expect, test } from "vitest";
import { abandonOn } from "../src/relay/abandoned-socket.js";

const listenersOf = (signal: AbortSignal): number => getEventListeners(signal, "abort").length;

test("a socket that was connected is no longer abandoned, and nothing of it stays at the signal", () => {
  const controller = new AbortController();
  const socket = new Socket();
  const keep = abandonOn(controller.signal, socket, () => undefined);
  expect(listenersOf(controller.signal)).toBe(1);
  keep();
  expect(listenersOf(controller.signal)).toBe(0);
  controller.abort();
  expect(socket.destroyed).toBe(false);
});

test.each(["before", "after"])("a socket is abandoned once when the signal fires %s", (when) => {
  const controller = new AbortController();
  const socket = new Socket();
  const reasons: unknown[] = [];
  if (when === "before") controller.abort("enough");
  abandonOn(controller.signal, socket, (reason) => reasons.push(reason));
  controller.abort("enough");
  expect(socket.destroyed).toBe(true);
  expect(reasons).toEqual(["enough"]);
});
