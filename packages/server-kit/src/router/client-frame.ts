import { isObject, parseJson, withoutNulls } from "../http/exchange.js";
import { Problem } from "../http/problem.js";
import type { Operation } from "./contract.js";
import { validate } from "./validation.js";

/**
 * Parses a frame from a WebSocket client, validates it against the contract and fills in defaults. Throws a problem
 * that says what is wrong. A frame without `type` and `action` is treated as the contract's first kind.
 */
export function readClientFrame<Frame>(text: string, { frames = {} }: Operation): Frame {
  const value = parseJson(text, "The frame");
  if (!isObject(value)) throw new Problem(400, "INVALID_REQUEST", "A frame must be a JSON object.");
  const frame = withoutNulls(value);
  const [first = ""] = Object.keys(frames);
  const kind = String(frame.type ?? frame.action ?? first);
  const input = Object.hasOwn(frames, kind) ? frames[kind] : undefined;
  if (!input)
    throw new Problem(400, "INVALID_REQUEST", `The frame must be one of ${Object.keys(frames).join(", ")}.`);
  validate(input, frame);
  return frame as Frame;
}
