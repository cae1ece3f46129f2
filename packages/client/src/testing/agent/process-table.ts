/** The processes of a sandbox, by process id. */
export class ProcessTable {
  readonly #commands = new Map<number, string>([[1, "cloud-sandbox-agent"]]);
  #last = 1;

  add(command: string): number {
    this.#last += 1;
    this.#commands.set(this.#last, command);
    return this.#last;
  }

  remove(pid: number): void {
    this.#commands.delete(pid);
  }

  list(): { readonly pid: number; readonly command: string }[] {
    return [...this.#commands].map(([pid, command]) => ({ pid, command }));
  }
}
