import { setMaxListeners } from "node:events";

/** Stops any number of tasks at once. Node.js takes the eleventh that listens for a leak, and says so in the server's log. */
export function stopOfMany(): AbortController {
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  return stop;
}
