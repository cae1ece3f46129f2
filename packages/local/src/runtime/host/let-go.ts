import type { ChildProcess } from "node:child_process";
import { Socket } from "node:net";

/** Lets this process end although a child of its runs. */
export function letGo(child: ChildProcess): void {
  child.unref();
  for (const pipe of child.stdio) if (pipe instanceof Socket) pipe.unref();
}

/** Keeps this process from ending while `work` goes on, whose children and sockets may all have been let go. */
export async function holdingProcess<Result>(work: () => Promise<Result>): Promise<Result> {
  const timer = setInterval(() => undefined, longestTimer);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

const longestTimer = 2 ** 31 - 1;
