import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** The directories of a disk, as its archive names them, for which machines of every runtime have a place. */
const everywhere = ["workspace", "home", "root/tmp"] as const;

const mostNamed = 5;

/** What is in the archive of a disk. */
export interface DiskContents {
  /** Those of {@link everywhere} that are not empty. */
  readonly parts: readonly string[];
  /** How many files of the rest of the system it has, or has removed. */
  readonly systemFiles: number;
  /** Paths of some of them, as tar shows them. */
  readonly named: readonly string[];
}

/** Reads the names in the archive of a disk. */
export async function diskContents(path: string): Promise<DiskContents> {
  const tar = spawn("tar", ["--list", `--file=${path}`], {
    env: { PATH: process.env.PATH, LC_ALL: "C" },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const closed = once(tar, "close");
  const parts = new Set<string>();
  const named: string[] = [];
  let systemFiles = 0;
  for await (const name of createInterface({ input: tar.stdout })) {
    const part = everywhere.find((each) => name.startsWith(`${each}/`));
    if (part !== undefined) {
      if (name.length > part.length + 1) parts.add(part);
    } else if (!name.endsWith("/")) {
      systemFiles += 1;
      if (named.length < mostNamed) named.push(`/${name.replace(/^root\//, "")}`);
    }
  }
  const [code] = await closed;
  if (code !== 0) throw new Error(`tar ended with ${code}, so the files cannot be read.`);
  return { parts: [...parts], systemFiles, named };
}
