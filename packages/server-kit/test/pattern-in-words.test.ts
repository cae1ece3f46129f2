import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { patternInWords } from "../src/router/validation.js";

test.each(["agent", "control-plane"])("each pattern of %s.yaml is explained in words", (contract) => {
  const yaml = readFileSync(new URL(`../../../openapi/${contract}.yaml`, import.meta.url), "utf8");
  const patterns = [...yaml.matchAll(/\bpattern: ("[^"]*")/g)].map(([, text = ""]) => JSON.parse(text));
  expect(patterns.length).toBe(yaml.match(/\bpattern:/g)?.length);
  expect(patterns.filter((pattern) => !patternInWords(pattern).startsWith("must "))).toEqual([]);
});
