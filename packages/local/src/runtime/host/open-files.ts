import { existsSync, readFileSync } from "node:fs";

/** Each machine takes a few of this process's descriptors, each call to its agent one or two more. */
const comfortable = 4096;

/** What a sandbox is given at least; with much less its agent cannot work. */
export const leastOpenFiles = 512;

/** How many this process and what it starts may have. Read at the start: later there may be none to read it with. */
export const openFilesLimit = readLimit();

/** Whether something failed because this process, or this host, has no file descriptor left. */
export function isOutOfDescriptors(error: unknown): boolean {
  return error instanceof Error && ["EMFILE", "ENFILE"].includes((error as NodeJS.ErrnoException).code ?? "");
}

/** For people: what to do where there are too few. */
export function openFilesAdvice(): string {
  if (openFilesLimit >= comfortable) return "Do less at a time, and try again.";
  return `It was started with a limit of ${openFilesLimit}: raise that with "ulimit -n ${comfortable}", or with LimitNOFILE= of systemd.`;
}

/** The hard limit, to which Node.js raises its own. */
function readLimit(): number {
  const limits = existsSync("/proc/self/limits") ? readFileSync("/proc/self/limits", "utf8") : "";
  const hard = /^Max open files +\S+ +(\d+) /m.exec(limits)?.[1];
  return hard === undefined ? Number.POSITIVE_INFINITY : Number(hard);
}
