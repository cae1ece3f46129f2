// @module-tag no-sandboxes
import { expect, test } from "vitest";
import { unproven } from "./operations-suite.js";

test("every operation of both contracts has a test", () => {
  expect(unproven()).toEqual([]);
});
