import { on } from "node:events";
import { resolve } from "node:path";
import type { Readable } from "node:stream";
import { json } from "node:stream/consumers";
import { Worker } from "node:worker_threads";
import thread from "./file-reader-thread.cjs?raw";

export const fileOperations = ["list", "digests", "side"] as const;

/** MiB of memory that a list of files may take: that of one directory is sorted at a time. */
const memoryMb = 256;

interface FileReaderSettings {
  /** The directories that belong to the sandbox. */
  readonly directories: readonly string[];
  /** Paths that are mounted from outside. */
  readonly mounts: readonly string[];
  /** The directory in which agents have working files. */
  readonly temporary: string;
}

/**
 * Reads files for comparisons: `list` names those that a snapshot keeps, with the request `{"disk": true}` on the whole root, and with
 * `"whole": true` also what code cannot have changed; `digests` hashes those of the request, and `side` reads one. Each line of an
 * answer is the JSON of `{facts}`, in which paths have a character for each byte.
 * A thread of its own has the rights of the sandbox's programs, as the agent has, and lets the agent answer others meanwhile.
 */
export class FileReader {
  constructor(private readonly settings: FileReaderSettings) {}

  async *read(operation: (typeof fileOperations)[number], body: Readable): AsyncGenerator<string> {
    const request = (await json(body)) as { readonly disk?: boolean };
    const taken = new Int32Array(new SharedArrayBuffer(4));
    const { temporary } = this.settings;
    const worker = new Worker(thread, {
      eval: true,
      workerData: { operation, request, taken, temporary, ...this.#places(request.disk === true) },
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
      env: {},
    });
    try {
      for await (const [lines] of on(worker, "message", { close: ["exit"] })) {
        yield lines as string;
        Atomics.add(taken, 0, 1);
        Atomics.notify(taken, 0);
      }
    } finally {
      await worker.terminate();
    }
  }

  #places(isDisk: boolean): { readonly roots: readonly string[]; readonly own: readonly string[] } {
    const { directories, mounts } = this.settings;
    const kept = directories
      .map((path) => resolve(path))
      .filter((path) => !mounts.includes(path))
      .sort((one, other) => (orderOf(one) < orderOf(other) ? -1 : 1));
    if (isDisk) return { roots: ["/"], own: [...kept, "/usr"] };
    return { roots: kept.filter((path) => !kept.some((other) => path.startsWith(`${other}/`))), own: kept };
  }
}

/** What is in a directory comes before the directory's neighbours. */
const orderOf = (path: string): string => path.replaceAll("/", "\0");
