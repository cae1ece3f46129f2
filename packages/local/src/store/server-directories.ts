import { join } from "node:path";
import { InstanceDirectory, type PrivateDirectory } from "../runtime/host/instance-directory.js";

/** Where a server has its files: below its data directory, or, without one, in a temporary directory that ends with the server. */
export class ServerDirectories {
  #temporary: Promise<PrivateDirectory> | undefined;

  constructor(private readonly dataDirectory: string | undefined) {}

  /** A path for a directory that outlives the server if its data does. */
  async kept(name: string): Promise<string> {
    return this.dataDirectory === undefined ? this.temporary(name) : join(this.dataDirectory, name);
  }

  /** A path for a directory that ends with the server. */
  async temporary(name: string): Promise<string> {
    this.#temporary ??= InstanceDirectory.createPrivate().catch((error: unknown) => {
      // The disk may have been full: the next need tries it again.
      this.#temporary = undefined;
      throw error;
    });
    return join((await this.#temporary).path, name);
  }

  /** Removes what is temporary. */
  async close(): Promise<void> {
    const temporary = await this.#temporary?.catch(() => undefined);
    await temporary?.remove();
  }
}
