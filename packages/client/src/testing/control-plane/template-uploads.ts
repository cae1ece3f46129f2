import { invalidBuild } from "@cloud-sandbox/server-kit/handlers";
import { Problem } from "@cloud-sandbox/server-kit/portable";
import { unpackTar } from "modern-tar";
import type { MemoryRequest } from "../memory/memory-exchange.js";
import type { MemoryFiles } from "../memory/memory-files.js";
import type { TestingClock } from "../memory/testing-clock.js";

/** How long an upload link is valid, in milliseconds. */
const lifetime = 60 * 60_000;

/** Uploads of archives for COPY steps: announced first, then sent to a URL that contains a grant. */
export class TemplateUploads {
  readonly #grants = new Map<string, { readonly grant: string; readonly expiresAt: Date }>();
  readonly #archives = new Map<string, Uint8Array<ArrayBuffer>>();

  constructor(private readonly clock: TestingClock) {}

  grant(hash: string, _length: number): { grant: string; expiresAt: Date } {
    const grant = globalThis.crypto.randomUUID();
    const expiresAt = new Date(this.clock.now().getTime() + lifetime);
    this.#grants.set(hash, { grant, expiresAt });
    return { grant, expiresAt };
  }

  async receive(hash: string, grant: string, { source }: MemoryRequest): Promise<{ size: number }> {
    const granted = this.#grants.get(hash);
    if (granted?.grant !== grant)
      throw new Problem(401, "INVALID_TOKEN", "This upload link is not valid for these files.", {
        hint: "Ask for an upload link.",
      });
    if (granted.expiresAt <= this.clock.now())
      throw new Problem(410, "TOKEN_EXPIRED", "This upload link has expired.", {
        hint: "Ask for another upload link.",
      });
    const archive = new Uint8Array(await source.arrayBuffer());
    if (archive[0] !== 0x1f || archive[1] !== 0x8b)
      throw invalidBuild("The files of a COPY step are sent as a gzipped tar; this is not gzip.");
    this.#archives.set(hash, archive);
    return { size: archive.length };
  }

  find(hash: string): Uint8Array<ArrayBuffer> | undefined {
    return this.#archives.get(hash);
  }
}

/** Unpacks a gzipped tar into a directory. Skips links. */
export async function unpackInto(
  files: MemoryFiles,
  directory: string,
  archive: Uint8Array<ArrayBuffer> | undefined,
): Promise<void> {
  if (archive === undefined) return;
  const tar = new Blob([archive]).stream().pipeThrough(new DecompressionStream("gzip"));
  for (const { header, data } of await unpackTar(tar)) {
    const path = `${directory}/${header.name}`;
    if (header.type === "directory") files.makeDirectory(path);
    else if (data) files.write(path, data, header.mode === undefined ? {} : { mode: header.mode });
  }
}
