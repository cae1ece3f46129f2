import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";

/** Opens a place in the file system without reading it (O_PATH). Node.js has no name for it. */
const pathOnly = 0o10000000;

/** The entry itself, which may be of any kind; a link is not followed. */
export const entryItself = pathOnly | constants.O_NOFOLLOW;

/** A directory; if the last name is a link, that fails. */
export const directoryItself = entryItself | constants.O_DIRECTORY;

/**
 * Opens a directory below another one, one name after the other, and follows no link: who can write there could make one that leads
 * elsewhere. In `from` itself links are followed, but for the last name.
 */
export async function openBelow(from: string, names: readonly string[]): Promise<FileHandle> {
  let handle = await open(from, directoryItself);
  for (const name of names) {
    const next = await open(`${pathOf(handle)}/${name}`, directoryItself).finally(() => handle.close());
    handle = next;
  }
  return handle;
}

/** Leads to what is open, wherever its names lead by now. */
export const pathOf = ({ fd }: FileHandle): string => `/proc/self/fd/${fd}`;
