import { readdir, statfs } from "node:fs/promises";
import { join } from "node:path";
import { removeTree } from "../runtime/host/remove-tree.js";
import { LazyDirectory } from "./lazy-directory.js";

/** The file system layers that template builds produce. A layer is kept while a template names it or a machine uses it. */
export class LayerStore {
  readonly #holds = new Map<string, number>();
  readonly #directory: LazyDirectory;

  constructor(
    /** Finds the directory of all layers, when it is first needed. */
    directory: () => Promise<string>,
    /** The paths of all layers that templates name. */
    private readonly named: () => readonly string[],
  ) {
    this.#directory = new LazyDirectory(directory);
  }

  async path(name: string): Promise<string> {
    return join(await this.#directory.ready(), name);
  }

  /** Free bytes on the layers' file system. */
  async freeBytes(): Promise<number> {
    const { bavail, bsize } = await statfs(await this.#directory.ready());
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
    const directory = await this.#directory.ready();
    for (const name of await readdir(directory)) {
      const layer = join(directory, name);
      if (this.named().includes(layer) || (this.#holds.get(layer) ?? 0) > 0) continue;
      this.#holds.delete(layer);
      await removeTree(layer).catch(() => undefined);
    }
  }
}
