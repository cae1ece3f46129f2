import { expect, test } from "vitest";
import { ViewerKeys } from "../../src/desktop/viewer-keys.js";

test("a password cannot be guessed faster than wrong keys are answered, and a token lets in meanwhile", async () => {
  const keys = new ViewerKeys();
  const password = keys.issue(60, { password: "secret word" });
  const token = keys.issue(60);
  expect(await keys.find("secret word")).toBe(password);
  let answered = 0;
  const guesses = Array.from({ length: 10 }, async (_, index) => {
    await keys.find(`guess ${index}`);
    answered += 1;
  });
  // The further ones are refused without a look at them.
  expect(await keys.find("guess 11")).toBeUndefined();
  expect(await keys.find("secret word")).toBeUndefined();
  expect(await keys.find(token.text)).toBe(token);
  expect(answered).toBe(0);
  await Promise.all(guesses.slice(0, 1));
  expect(await keys.find("secret word")).toBe(password);
  keys.revokeAll();
});
