import { expect, it } from "vitest";
import { displayed } from "../../src/results/execution-result.js";

it("no more displayed values are named than a sandbox may display", () => {
  const outputs = Array.from({ length: 200_000 }, () => ({ type: "text/html", data: "<b>x</b>" }));
  const { images, values } = displayed(outputs, { texts: true });
  expect(images).toEqual([]);
  expect(values).toHaveLength(64);
  expect(JSON.stringify(values).length).toBeLessThan(20_000);
});
