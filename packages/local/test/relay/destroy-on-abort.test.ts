import { getEventListeners } from "node:events";
import { Socket } from "node:net";
import { expect, test } from "vitest";
import { destroyOnAbort } from "../../src/relay/destroy-on-abort.js";

const listenersOf = (signal: AbortSignal): number => getEventListeners(signal, "abort").length;

test("after the returned function is called, an abort leaves the socket open, and no listener is left", () => {
  const controller = new AbortController();
  const socket = new Socket();
  const stopListening = destroyOnAbort(controller.signal, socket, () => undefined);
  expect(listenersOf(controller.signal)).toBe(1);
  stopListening();
  expect(listenersOf(controller.signal)).toBe(0);
  controller.abort();
  expect(socket.destroyed).toBe(false);
});

test.each(["before", "after"])("the socket is destroyed once when the signal aborts %s", (when) => {
  const controller = new AbortController();
  const socket = new Socket();
  const reasons: unknown[] = [];
  if (when === "before") controller.abort("enough");
  destroyOnAbort(controller.signal, socket, (reason) => reasons.push(reason));
  controller.abort("enough");
  expect(socket.destroyed).toBe(true);
  expect(reasons).toEqual(["enough"]);
});
