import type { ChildProcess } from "node:child_process";
import { Socket } from "node:net";

/** Allows this process to exit while the child still runs. */
export function unrefChild(child: ChildProcess): void {
  child.unref();
  for (const pipe of child.stdio) if (pipe instanceof Socket) pipe.unref();
}

/** Keeps this process running until `work` ends, even if all of its children and sockets are unreferenced. */
export async function holdingProcess<Result>(work: () => Promise<Result>): Promise<Result> {
  const timer = setInterval(() => undefined, longestTimer);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

const longestTimer = 2 ** 31 - 1;
