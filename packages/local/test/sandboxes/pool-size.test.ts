import { expect, test } from "vitest";
import { InvalidPoolError } from "../../src/errors/local-errors.js";
import { poolSize } from "../../src/sandboxes/pool-size.js";

test.each<[size: number, option: number | undefined, variable: string | undefined]>([
  [1, undefined, undefined],
  [1, undefined, ""],
  [0, undefined, "0"],
  [64, undefined, " 64 "],
  [3, 3, "7"],
  [0, 0, "many"],
])("%i machines wait with the option --pool %s and the variable %j", (size, option, variable) => {
  expect(poolSize(option, { CLOUD_SANDBOX_POOL: variable })).toBe(size);
});

test.each(["many", "-1", "1.5", "65", "1e99", "0x"])("the variable %j is refused by its name", (variable) => {
  const env = { CLOUD_SANDBOX_POOL: variable };
  expect(() => poolSize(undefined, env)).toThrow(InvalidPoolError);
  expect(() => poolSize(undefined, env)).toThrow(/CLOUD_SANDBOX_POOL.*from 0 to 64/);
});
