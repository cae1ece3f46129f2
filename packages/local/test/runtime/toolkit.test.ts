import { expect, test } from "vitest";
import { collectToolkit, type FoundPrograms } from "../../src/runtime/container/toolkit/toolkit.js";

const setpriv = "/usr/bin/setpriv";
const node = { path: "/usr/bin/node", version: "18.20.1" };

test.each<[string, FoundPrograms, RegExp]>([
  ["no setpriv", { node, runsForeignNode: true }, /lacks setpriv: add it .* on Alpine setpriv/],
  ["no Node.js and musl", { setpriv, runsForeignNode: false }, /needs glibc .* add Node.js to the image/],
  ["an old Node.js and musl", { setpriv, node, runsForeignNode: false }, /no Node.js 20 or newer/],
])("an image for another processor with %s is refused with what to add", async (_, found, message) => {
  // No machine that runs the tests has this processor.
  const target = { name: "some:1", arch: "s390", found, log: () => undefined };
  await expect(collectToolkit(target)).rejects.toThrow(message);
});
