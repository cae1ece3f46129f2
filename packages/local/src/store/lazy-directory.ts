import { mkdir } from "node:fs/promises";

/** A directory that is made when it is first needed. If that fails, as on a full disk, the next need tries it again. */
export class LazyDirectory {
  #made: Promise<string> | undefined;

  constructor(
    /** Finds the path. */
    private readonly find: () => Promise<string>,
    private readonly make = async (path: string): Promise<string> => {
      await mkdir(path, { recursive: true, mode: 0o700 });
      return path;
    },
  ) {}

  /** The path. Undefined if the directory was not needed yet. */
  get made(): Promise<string> | undefined {
    return this.#made;
  }

  ready(): Promise<string> {
    this.#made ??= this.find()
      .then(this.make)
      .catch((error: unknown) => {
        this.#made = undefined;
        throw error;
      });
    return this.#made;
  }
}
