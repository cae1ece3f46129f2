/**
 * Loads `follow-redirects`, of which axios takes what makes requests, before axios imports it. In three of some hundred runs
 * of all tests, axios imported an empty module, and every request of the vendor's SDK failed with "Cannot read properties of
 * undefined (reading 'request')". Thousands of imports alone never gave it. A module that was required is not loaded again
 * by an import. If it is empty even so, this prints what could explain it, and loads it once more.
 */
import { readFileSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";

const root = createRequire(import.meta.url);
const sdk = createRequire(realpathSync(root.resolve("@hopx-ai/sdk")));
const axios = createRequire(sdk.resolve("axios"));

const isWhole = () => typeof axios("follow-redirects").http?.request === "function";

if (!isWhole()) {
  const path = axios.resolve("follow-redirects");
  const loaded = axios.cache[path];
  console.warn(
    `${path} has ${readFileSync(path).length} bytes, but only these exports: [${Object.keys(loaded?.exports ?? {})}]. It is ${loaded?.loaded ? "" : "not "}loaded.`,
  );
  delete axios.cache[path];
  if (!isWhole()) throw new Error(`${path} is empty`);
}
