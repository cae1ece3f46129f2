import { setTimeout as sleep } from "node:timers/promises";

/** Calls `condition` again and again until it is true. Throws after a minute, which only what hangs takes. */
export async function eventually(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`It never came to be that ${what}.`);
    await sleep(10);
  }
}
