import { fileURLToPath } from "node:url";
import { inFreshProcess } from "../fresh-process.mjs";

const program = fileURLToPath(new URL("memory-process.mjs", import.meta.url));

/** What calls that are over leave behind. */
export async function measureMemory(url) {
  const { calls, growth } = await inFreshProcess(["--expose-gc", program, url]);
  const name = `growth of the heap by ${calls.toLocaleString("en")} calls`;
  return [{ name, unit: "MiB", subject: growth, limit: 1 }];
}
