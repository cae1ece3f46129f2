import type { AgentSchemas } from "@cloud-sandbox/protocol";
import { type ByteWindow, outputPiece } from "@cloud-sandbox/server-kit/execution";
import type { FrameChannel } from "./frame-channel.js";

type ServerFrame = AgentSchemas["TerminalServerFrame"];

/** Bytes of output in one frame. */
const pieceBytes = 64 * 1024;

/** The part of a terminal's output that is kept. */
export interface TerminalOutput {
  readonly window: ByteWindow;
  /** Whether the terminal has ended, so that no more output follows. */
  readonly isComplete: boolean;
}

/** Sends a terminal's output over one connection, at the pace of the client. */
export class TerminalView {
  #showing: Promise<void> = Promise.resolve();
  #isDetached = false;
  #resolveDetached: () => void = () => undefined;
  readonly #detached = new Promise<void>((resolve) => {
    this.#resolveDetached = resolve;
  });

  constructor(
    readonly channel: FrameChannel<ServerFrame>,
    private readonly output: TerminalOutput,
    /** Makes an output frame. `position` is the number of bytes of output up to the end of `data`. */
    private readonly frame: (data: string, position: number) => ServerFrame,
    private position: number,
  ) {}

  /** Number of bytes of output that were sent. */
  get shown(): number {
    return this.position;
  }

  /** Sends the output that was not sent yet. Resolves when the client has received it, or is detached. */
  async show(): Promise<void> {
    this.#showing = this.#showing.then(() => this.#showAll());
    // A lost connection may look open and never answer. Stop waiting when the client attaches on another one.
    await Promise.race([this.#showing, this.#detached]);
  }

  /** Sends the client a frame that says why it is detached, and closes its connection. */
  detach(reason: ServerFrame): void {
    this.#isDetached = true;
    this.#resolveDetached();
    void this.channel.send(reason);
    void this.channel.finish();
  }

  async #showAll(): Promise<void> {
    const { channel, output } = this;
    while (!this.#isDetached && !channel.closed.aborted) {
      const { isComplete, window } = output;
      const offset = this.position;
      const kept = window.slice(offset, pieceBytes);
      const { end, text } = outputPiece(kept, { offset, total: window.total, isComplete });
      if (end === offset) return;
      this.position = end;
      if (text !== "") await channel.send(this.frame(text, end));
    }
  }
}
