import { fileURLToPath } from "node:url";
import { inFreshProcess } from "../fresh-process.mjs";

const program = fileURLToPath(new URL("memory-process.mjs", import.meta.url));

/** Measures the memory that the client still holds after its calls have ended. */
export async function measureMemory(url) {
  const { calls, growth } = await inFreshProcess(["--expose-gc", program, url]);
  const name = `growth of the heap by ${calls.toLocaleString("en")} calls`;
  return [{ name, unit: "MiB", subject: growth, limit: 1 }];
}
