import { expect, test } from "vitest";
import type { ImageFindings } from "../../src/runtime/docker/image/image-trial.js";
import { collectToolkit } from "../../src/runtime/docker/image/toolkit.js";

const setpriv = "/usr/bin/setpriv";
const node = { path: "/usr/bin/node", version: "18.20.1" };

test.each<[string, Omit<ImageFindings, "languages">, RegExp]>([
  ["no setpriv", { node, runsForeignNode: true }, /lacks setpriv: add it .* on Alpine setpriv/],
  ["no Node.js and musl", { setpriv, runsForeignNode: false }, /needs glibc .* add Node.js to the image/],
  ["an old Node.js and musl", { setpriv, node, runsForeignNode: false }, /no Node.js 20 or newer/],
])("an image for another processor with %s is refused with what to add", async (_, found, message) => {
  // No machine that runs the tests has this processor.
  const target = { name: "some:1", arch: "s390", found: { languages: [], ...found }, log: () => undefined };
  await expect(collectToolkit(target)).rejects.toThrow(message);
});
