import { isUtf8 } from "node:buffer";
import { Problem } from "@cloud-sandbox/server-kit";
import { type BytePath, bytesOf } from "./byte-path.js";
import { mostChanges } from "./copy-requests.js";
import { mostEntries } from "./host-manifest.js";
import type { Change } from "./tree-comparison.js";

/** Most bytes of a list of changes, which code decides the length of. */
const longestList = 32 * 1024 * 1024;

/** Limits how many changes a list has, and how long it is. Its methods throw the 413 problem. */
export class ChangeLimits {
  #count = 0;
  #bytes = 0;

  add({ path, target = "" }: Change): void {
    this.#count += 1;
    if (this.#count > mostChanges) throw tooManyChanges(`more than ${mostChanges}`);
    this.addBytes(escapedBytes(path) + escapedBytes(target));
  }

  addBytes(more: number): void {
    this.#bytes += more;
    if (this.#bytes > longestList) throw tooLongList();
  }
}

/** Bytes that the text of a path has more in JSON than the path: each byte that is no UTF-8 is written with six. */
const escapedBytes = (path: BytePath): number => (isUtf8(bytesOf(path)) ? 0 : 5 * path.length);

/** The 413 problem of so many changes. */
export const tooManyChanges = (count: number | string): Problem =>
  tooLarge(`Code has changed ${count} files and directories. At most ${mostChanges} are listed.`);

const tooLongList = (): Problem =>
  tooLarge(
    `The list of what code has changed is longer than ${longestList / 1024 / 1024} MiB, because of many or long paths.`,
  );

/** The 413 problem of more files than can be compared. */
export const tooManyFiles = (): Problem =>
  tooLarge(`The sandbox has more than ${mostEntries} files and directories, the most that can be compared.`);

const tooLarge = (message: string): Problem =>
  new Problem(413, "PAYLOAD_TOO_LARGE", message, {
    hint: "Remove what is not needed, such as files of a build, in the sandbox.",
  });
