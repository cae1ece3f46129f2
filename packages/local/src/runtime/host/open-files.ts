import { existsSync, readFileSync } from "node:fs";

/** The recommended limit. Each machine takes a few of this process's descriptors, each call to its agent one or two more. */
const recommendedOpenFiles = 4096;

/** The lowest limit for a sandbox: its agent cannot work with much less. */
export const leastOpenFiles = 512;

/** The limit of open files for this process. Read at the start, because reading it later needs a free descriptor. */
export const openFilesLimit = readLimit();

/** Whether something failed because this process, or this host, has no file descriptor left. */
export function isOutOfDescriptors(error: unknown): boolean {
  return error instanceof Error && ["EMFILE", "ENFILE"].includes((error as NodeJS.ErrnoException).code ?? "");
}

/** A sentence for people that says what to do when no file descriptor is free. */
export function openFilesAdvice(): string {
  if (openFilesLimit >= recommendedOpenFiles)
    return "Run fewer sandboxes and requests at a time, and try again.";
  return `The server was started with a limit of ${openFilesLimit}: raise the limit with "ulimit -n ${recommendedOpenFiles}", or with LimitNOFILE= of systemd.`;
}

/** Reads the hard limit, because Node.js raises its soft limit to the hard limit at its start. */
function readLimit(): number {
  const limits = existsSync("/proc/self/limits") ? readFileSync("/proc/self/limits", "utf8") : "";
  const hard = /^Max open files +\S+ +(\d+) /m.exec(limits)?.[1];
  return hard === undefined ? Number.POSITIVE_INFINITY : Number(hard);
}
