import { mkdir, readdir, statfs } from "node:fs/promises";
import { join } from "node:path";
import { removeTree } from "../runtime/host/remove-tree.js";

/** The file system layers that template builds produce. A layer is kept while a template names it or a machine uses it. */
export class LayerStore {
  readonly #holds = new Map<string, number>();
  #made: Promise<string> | undefined;

  constructor(
    /** The directory of all layers; called once, when it is first needed. */
    private readonly directory: () => Promise<string>,
    /** The paths of all layers that templates name. */
    private readonly named: () => readonly string[],
  ) {}

  async path(name: string): Promise<string> {
    return join(await this.#ready(), name);
  }

  /** Free bytes on the layers' file system. */
  async freeBytes(): Promise<number> {
    const { bavail, bsize } = await statfs(await this.#ready());
    return bavail * bsize;
  }

  /** Protects layers from {@link collect} until the returned function is called. */
  hold(layers: readonly string[]): () => void {
    for (const layer of layers) this.#holds.set(layer, (this.#holds.get(layer) ?? 0) + 1);
    let isHeld = true;
    return () => {
      if (isHeld) for (const layer of layers) this.#holds.set(layer, (this.#holds.get(layer) ?? 1) - 1);
      isHeld = false;
    };
  }

  /** Removes the layers that no template names and no machine uses. The next call tries again to remove a layer that could not be removed. */
  async collect(): Promise<void> {
    const directory = await this.#ready();
    for (const name of await readdir(directory)) {
      const layer = join(directory, name);
      if (this.named().includes(layer) || (this.#holds.get(layer) ?? 0) > 0) continue;
      this.#holds.delete(layer);
      await removeTree(layer).catch(() => undefined);
    }
  }

  #ready(): Promise<string> {
    this.#made ??= this.directory().then(async (path) => {
      await mkdir(path, { recursive: true, mode: 0o700 });
      return path;
    });
    return this.#made;
  }
}
