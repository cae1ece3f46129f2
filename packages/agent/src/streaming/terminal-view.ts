import type { AgentSchemas } from "@cloud-sandbox/protocol";
import { type ByteWindow, outputPiece } from "@cloud-sandbox/server-kit/execution";
import type { FrameChannel } from "./frame-channel.js";

type ServerFrame = AgentSchemas["TerminalServerFrame"];

/** Bytes of output in one frame. */
const pieceBytes = 64 * 1024;

/** A terminal's output, as far as it is kept. */
export interface TerminalOutput {
  readonly window: ByteWindow;
  /** Whether nothing more will come. */
  readonly isComplete: boolean;
}

/** Shows a terminal's output over one connection, at the pace of its reader. */
export class TerminalView {
  #showing: Promise<void> = Promise.resolve();
  #hasLeft = false;
  #unblock: () => void = () => undefined;
  readonly #left = new Promise<void>((resolve) => {
    this.#unblock = resolve;
  });

  constructor(
    readonly channel: FrameChannel<ServerFrame>,
    private readonly output: TerminalOutput,
    /** Makes the frame of a text. `position` is the number of bytes up to its end. */
    private readonly frame: (data: string, position: number) => ServerFrame,
    private position: number,
  ) {}

  /** Number of bytes of output that were sent. */
  get shown(): number {
    return this.position;
  }

  /** Sends what was not sent yet. Resolves when the reader has it, or is gone. */
  async show(): Promise<void> {
    this.#showing = this.#showing.then(() => this.#showAll());
    // A connection that is lost, and not known to be, answers nothing: its reader may have left for another one.
    await Promise.race([this.#showing, this.#left]);
  }

  /** Tells the reader why it is shown no more, and closes its connection. */
  leave(reason: ServerFrame): void {
    this.#hasLeft = true;
    this.#unblock();
    void this.channel.send(reason);
    void this.channel.finish();
  }

  async #showAll(): Promise<void> {
    const { channel, output } = this;
    while (!this.#hasLeft && !channel.closed.aborted) {
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
