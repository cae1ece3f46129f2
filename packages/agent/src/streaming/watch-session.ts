import type { AgentSchemas } from "@cloud-sandbox/protocol";
import { type Operation, Problem, readClientFrame } from "@cloud-sandbox/server-kit";
import { errorFrame } from "@cloud-sandbox/server-kit/handlers";
import type { ServedTree } from "../files/served-tree.js";
import type { FrameChannel } from "./frame-channel.js";
import { type Change, TreeWatch } from "./tree-watch.js";
import type { WatchBudget } from "./watch-budget.js";

type ServerFrame = AgentSchemas["WatchFrame"];
type ClientFrame = AgentSchemas["WatchClientFrame"];

/** Most changes that wait for the reader. Further ones are only counted, and their number is reported as lost. */
const maxWaiting = 10_000;

/** The directories watched over one WebSocket. */
export class WatchSession {
  readonly #watches = new Map<string, TreeWatch>();
  readonly #waiting: Change[] = [];
  #lost = 0;
  #isSending = false;
  /** Resolves when the latest frame was handled: frames are handled one at a time. */
  #work: Promise<void> = Promise.resolve();

  constructor(
    private readonly channel: FrameChannel<ServerFrame>,
    private readonly operation: Operation,
    private readonly tree: ServedTree,
    private readonly budget: WatchBudget,
  ) {
    channel.receive((text) => {
      this.#work = this.#work.then(() => this.#take(text));
      // Scanning a large tree takes a while. Stop reading meanwhile, so that further frames wait in the socket.
      channel.pauseFor(this.#work);
    });
    channel.closed.addEventListener("abort", () => {
      for (const watch of this.#watches.values()) watch.close();
    });
  }

  async #take(text: string): Promise<void> {
    try {
      const frame = readClientFrame<ClientFrame>(text, this.operation);
      const path = this.tree.resolve(frame.path);
      if (frame.action === "unwatch") this.#unwatch(path);
      else await this.#watch(path, frame.ready === true);
    } catch (error) {
      void this.channel.send(errorFrame(error));
    }
  }

  async #watch(path: string, wantsReady: boolean): Promise<void> {
    const { tree, budget, channel } = this;
    if (!this.#watches.has(path)) {
      const tell = (change: Change) => this.#queue(change);
      const fail = (error: unknown) => void channel.send(errorFrame(error));
      const watch = await TreeWatch.open(path, { tree, budget, tell, fail });
      if (channel.closed.aborted) return watch.close();
      this.#watches.set(path, watch);
    }
    if (wantsReady) void channel.send({ type: "ready", path, timestamp: new Date().toISOString() });
  }

  #unwatch(path: string): void {
    this.#watches.get(path)?.close();
    this.#watches.delete(path);
  }

  #queue(change: Change): void {
    const last = this.#waiting.at(-1);
    if (last && change.event === "modified" && last.event === "modified" && last.path === change.path) return;
    if (this.#waiting.length >= maxWaiting) this.#lost += 1;
    else this.#waiting.push(change);
    if (!this.#isSending) void this.#sendAll();
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true;
    for (let change = this.#waiting.shift(); change; change = this.#waiting.shift()) {
      const { event, path, oldPath } = change;
      const timestamp = new Date().toISOString();
      const from = oldPath !== undefined && { old_path: oldPath };
      await this.channel.send({ type: "change", path, event, ...from, timestamp });
    }
    if (this.#lost > 0) void this.channel.send(errorFrame(tooFast(this.#lost)));
    this.#lost = 0;
    this.#isSending = false;
  }
}

const tooFast = (count: number) =>
  new Problem(
    429,
    "RESOURCE_EXHAUSTED",
    `${count} changes were not reported: they happened faster than the client read them, and at most ${maxWaiting} are kept for it.`,
    { hint: "List the directory to see its current contents." },
  );
