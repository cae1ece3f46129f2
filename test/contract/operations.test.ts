// @module-tag no-sandboxes
import { expect, test } from "vitest";
import { operationsPage, unproven } from "./operations-suite.js";

test("every operation of both contracts has a test", () => {
  expect(unproven()).toEqual([]);
});

test("docs/reports/operations.md is up to date; if not, run this file with -u", async () => {
  await expect(operationsPage()).toMatchFileSnapshot("../../docs/reports/operations.md");
});
