import { expect, test } from "vitest";
import { startLocalBackend } from "./local-backend.js";
import { operationsPage, operationsSuite, unproven } from "./operations-suite.js";

operationsSuite("the local backend", startLocalBackend);

test("every operation of both contracts has a test", () => {
  expect(unproven()).toEqual([]);
});

test("docs/operations.md is up to date; if not, run this file with -u", async () => {
  await expect(operationsPage()).toMatchFileSnapshot("../../docs/operations.md");
});
