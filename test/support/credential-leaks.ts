import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** Finds a credential, in plain and in the forms that programs encode it in, where it must not be. */
export class CredentialLeaks {
  readonly needles: readonly string[];

  constructor(credential: string) {
    const forms = ["utf8", "base64", "base64url", "hex"] as const;
    this.needles = [...new Set(forms.map((form) => Buffer.from(credential).toString(form)))];
  }

  /** Where a text or a file has the credential. */
  in(where: string, content: Buffer | string): string[] {
    return this.needles.some((needle) => content.includes(needle)) ? [where] : [];
  }

  async below(directory: string): Promise<string[]> {
    const entries = await readdir(directory, { recursive: true, withFileTypes: true });
    return this.#inFiles(
      entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name)),
    );
  }

  /** In the environments and command lines of all processes of this machine. */
  async inProcesses(): Promise<string[]> {
    const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
    return this.#inFiles(pids.flatMap((pid) => [`/proc/${pid}/environ`, `/proc/${pid}/cmdline`]));
  }

  async #inFiles(files: readonly string[]): Promise<string[]> {
    const found = files.map(async (file) => this.in(file, await readFile(file).catch(() => "")));
    return (await Promise.all(found)).flat();
  }
}
