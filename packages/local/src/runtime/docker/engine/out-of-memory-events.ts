import type Docker from "dockerode";
import { ownFilter } from "./container-owner.js";

/** Remembers in which of this process's containers the kernel killed a process because memory ran out. */
export class OutOfMemoryEvents {
  readonly #containers = new Set<string>();

  private constructor(private readonly stream: NodeJS.ReadableStream) {
    let rest = "";
    stream.setEncoding("utf8");
    stream.on("data", (chunk: string) => {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.#take(line);
    });
    // Without the daemon there are no events: its containers end too, and tell why.
    stream.on("error", () => undefined);
  }

  static async follow(docker: Docker): Promise<OutOfMemoryEvents> {
    const filters = JSON.stringify({ type: ["container"], event: ["oom"], label: ownFilter() });
    return new OutOfMemoryEvents(await docker.getEvents({ filters }));
  }

  has(container: string): boolean {
    return this.#containers.has(container);
  }

  close(): void {
    if ("destroy" in this.stream && typeof this.stream.destroy === "function") this.stream.destroy();
  }

  #take(line: string): void {
    if (line.trim() === "") return;
    const { id, Actor } = JSON.parse(line) as {
      readonly id?: string;
      readonly Actor?: { readonly ID?: string };
    };
    const container = id ?? Actor?.ID;
    if (container !== undefined) this.#containers.add(container);
  }
}
