import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { startPiped } from "../runtime/host/piped-program.js";

/** The directories of a disk, as its archive names them, for which machines of every runtime have a place, and that place. */
const places: Readonly<Record<string, string>> = {
  workspace: "workspace",
  home: "home/sandbox",
  "root/tmp": "tmp",
};

const mostNamed = 5;

/** What is in the archive of a disk. */
export interface DiskContents {
  /** Those of {@link places} that have files. */
  readonly places: Readonly<Record<string, string>>;
  /** How many files of the rest of the system it has, or has removed. */
  readonly systemFiles: number;
  /** Paths of some of them, as tar shows them. */
  readonly named: readonly string[];
}

/** Reads the names in the archive of a disk. */
export async function diskContents(path: string): Promise<DiskContents> {
  const tar = startPiped(["tar", "--list", `--file=${path}`], { PATH: process.env.PATH, LC_ALL: "C" });
  tar.stdin.end();
  tar.stderr.resume();
  const [contents, [code]] = await Promise.all([contentsIn(tar.stdout), once(tar, "close")]);
  if (code !== 0) throw new Error(`tar ended with ${code}, so the files cannot be read.`);
  return contents;
}

async function contentsIn(list: Readable): Promise<DiskContents> {
  const found = new Set<string>();
  const named: string[] = [];
  let systemFiles = 0;
  for await (const name of createInterface({ input: list })) {
    const part = Object.keys(places).find((each) => name.startsWith(`${each}/`));
    if (part !== undefined) {
      if (name.length > part.length + 1) found.add(part);
    } else if (!name.endsWith("/")) {
      systemFiles += 1;
      if (named.length < mostNamed) named.push(`/${name.replace(/^root\//, "")}`);
    }
  }
  const filled = Object.entries(places).filter(([part]) => found.has(part));
  return { places: Object.fromEntries(filled), systemFiles, named };
}
