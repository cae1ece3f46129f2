import { mkdir, readdir, statfs } from "node:fs/promises";
import { join } from "node:path";
import { removeTree } from "../runtime/host/remove-tree.js";

/** The directories that builds leave, kept as long as a template names them or a machine stands on them. */
export class LayerStore {
  readonly #holds = new Map<string, number>();
  #made: Promise<string> | undefined;

  constructor(
    /** Where they are; asked for with the first. */
    private readonly directory: () => Promise<string>,
    /** All that templates name. */
    private readonly named: () => readonly string[],
  ) {}

  async path(name: string): Promise<string> {
    return join(await this.#ready(), name);
  }

  /** Bytes that are free where they are. */
  async room(): Promise<number> {
    const { bavail, bsize } = await statfs(await this.#ready());
    return bavail * bsize;
  }

  /** Keeps them, also from {@link collect}, until the function that is returned is called. */
  hold(layers: readonly string[]): () => void {
    for (const layer of layers) this.#holds.set(layer, (this.#holds.get(layer) ?? 0) + 1);
    let isHeld = true;
    return () => {
      if (isHeld) for (const layer of layers) this.#holds.set(layer, (this.#holds.get(layer) ?? 1) - 1);
      isHeld = false;
    };
  }

  /** Removes what nobody names or stands on. What cannot be removed is left for the next time. */
  async collect(): Promise<void> {
    const directory = await this.#ready();
    for (const name of await readdir(directory)) {
      const layer = join(directory, name);
      if (this.named().includes(layer) || (this.#holds.get(layer) ?? 0) > 0) continue;
      this.#holds.delete(layer);
      await removeTree(layer).catch(() => undefined);
    }
  }

  async removeAll(): Promise<void> {
    if (this.#made !== undefined) await removeTree(await this.#made).catch(() => undefined);
  }

  #ready(): Promise<string> {
    this.#made ??= this.directory().then(async (path) => {
      await mkdir(path, { recursive: true, mode: 0o700 });
      return path;
    });
    return this.#made;
  }
}
