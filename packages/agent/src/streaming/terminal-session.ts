import type { AgentSchemas } from "@cloud-sandbox/protocol";
import { type Operation, Problem, readClientFrame } from "@cloud-sandbox/server-kit";
import { ByteWindow } from "@cloud-sandbox/server-kit/execution";
import { errorFrame } from "@cloud-sandbox/server-kit/handlers";
import { drained } from "./drained.js";
import type { FrameChannel } from "./frame-channel.js";
import { PseudoTerminal, type TerminalSize, type TerminalStart } from "./pseudo-terminal.js";
import { TerminalView } from "./terminal-view.js";

type ServerFrame = AgentSchemas["TerminalServerFrame"];
type ClientFrame = AgentSchemas["TerminalClientFrame"];

/**
 * Bytes of output that are kept. More than is ever on its way to a client, so that a client that lost its connection while
 * it read gets all of it.
 */
const keptBytes = 256 * 1024;
/** Characters of input after which a client gets a receipt, if no output carries one. */
const receiptEvery = 64 * 1024;
/** WebSocket close code of a client that needs the terminal no more. */
const closedOnPurpose = 1000;

export interface TerminalOptions {
  readonly operation: Operation;
  /** Milliseconds for which it outlives a lost connection; 0 if it ends with its connection. */
  readonly patience: number;
}

/** A connection that is attached to a terminal. */
export interface Attachment {
  /** Bytes of output that the client has. */
  readonly received?: number | undefined;
  readonly size?: TerminalSize;
}

/**
 * A shell in a pseudo-terminal, and the client that is attached to it. It ends when the shell exits, when its client closes
 * it, and when it was alone for longer than its patience.
 */
export class TerminalSession {
  /** Resolves when there is nothing to attach to any more. */
  readonly ended: Promise<void>;
  readonly #output = { window: new ByteWindow(keptBytes, 0), isComplete: false };
  /** The frame that follows the last output. */
  readonly #last: Promise<ServerFrame>;
  #end: () => void = () => undefined;
  #isOver = false;
  #terminal: PseudoTerminal | undefined;
  #view: TerminalView | undefined;
  #alone: NodeJS.Timeout | undefined;
  /** Frames that arrived before the terminal was started. */
  readonly #early: ClientFrame[] = [];
  /** Number of the last input frame that was taken. */
  #taken = 0;
  /** Characters of input that were taken since the client was last told. */
  #untold = 0;

  constructor(
    place: TerminalStart,
    private readonly options: TerminalOptions,
  ) {
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.#last = this.#run(place);
  }

  /** Attaches a client. It takes the terminal over from the one that is attached. */
  attach(channel: FrameChannel<ServerFrame>, { received = 0, size }: Attachment = {}): void {
    clearTimeout(this.#alone);
    this.#view?.leave(errorFrame(takenOver()));
    const { total, limit } = this.#output.window;
    const position = Math.min(total, Math.max(received, total - limit));
    const view = new TerminalView(channel, this.#output, (data, end) => this.#frame(data, end), position);
    this.#view = view;
    if (this.#isKept) {
      this.#untold = 0;
      void channel.send({
        type: "attached",
        kept_seconds: this.options.patience / 1000,
        taken: this.#taken,
        skipped_bytes: Math.max(0, position - received),
      });
    }
    if (size) this.#terminal?.resize(size);
    channel.receive((text) => {
      if (this.#view === view) this.#take(text, view);
    });
    const left = () => {
      if (this.#view === view) this.#left(channel.closeCode);
    };
    if (channel.closed.aborted) left();
    else {
      channel.closed.addEventListener("abort", left);
      void this.#serve(view);
    }
  }

  /** Kills the shell and everything that was started in it. */
  async close(): Promise<void> {
    clearTimeout(this.#alone);
    this.#isOver = true;
    this.#end();
    await this.#terminal?.kill();
  }

  get #isKept(): boolean {
    return this.options.patience > 0;
  }

  /** Runs the shell. Resolves when all output was read, with the frame that says how it ended. */
  async #run(place: TerminalStart): Promise<ServerFrame> {
    const { window } = this.#output;
    try {
      const terminal = await PseudoTerminal.start(place);
      this.#terminal = terminal;
      // The client left while the terminal was started.
      if (this.#isOver) await terminal.kill();
      for (const frame of this.#early.splice(0)) this.#perform(terminal, frame);
      for await (const chunk of terminal.output) {
        // An attached client gets everything: the shell waits for it before and after each chunk, so that no chunk pushes
        // out what the client has not got yet.
        await this.#shown();
        window.push(chunk);
        await this.#shown();
      }
      const code = await terminal.exit;
      // The shell exited by itself: background programs that it left keep running, as they do when a shell in a real
      // terminal exits.
      this.#terminal = undefined;
      return { type: "exit", code };
    } catch (error) {
      return errorFrame(error);
    } finally {
      this.#output.isComplete = true;
    }
  }

  /** Resolves when the client that is attached has all output, or nobody is attached. */
  async #shown(): Promise<void> {
    for (let view = this.#view; view; view = view === this.#view ? undefined : this.#view) await view.show();
  }

  /** Sends the output that is kept, and the last frame. */
  async #serve(view: TerminalView): Promise<void> {
    void view.show();
    const last = await this.#last;
    if (this.#view !== view) return;
    await view.show();
    await view.channel.send(last);
    // Otherwise the client did not get it: it may come back for it.
    if (!view.channel.closed.aborted) this.#end();
    await view.channel.finish();
  }

  #left(closeCode: number | undefined): void {
    this.#view = undefined;
    if (!this.#isKept || closeCode === closedOnPurpose) void this.close();
    else this.#alone = setTimeout(() => void this.close(), this.options.patience).unref();
  }

  #frame(data: string, position: number): ServerFrame {
    if (!this.#isKept) return { type: "output", data };
    this.#untold = 0;
    return { type: "output", data, position, taken: this.#taken };
  }

  #take(text: string, { channel, shown }: TerminalView): void {
    try {
      const frame = readClientFrame<ClientFrame>(text, this.options.operation);
      if (frame.type === "input" && frame.number !== undefined && this.#isKept) {
        if (frame.number <= this.#taken) return;
        this.#taken = frame.number;
        this.#untold += frame.data.length;
      }
      if (this.#terminal) this.#perform(this.#terminal, frame);
      else this.#early.push(frame);
      if (this.#untold >= receiptEvery) void channel.send(this.#frame("", shown));
    } catch (error) {
      void channel.send(errorFrame(error));
    }
  }

  #perform(terminal: PseudoTerminal, frame: ClientFrame): void {
    if (frame.type === "resize") terminal.resize(frame);
    else if (terminal.input.writable && !terminal.input.write(frame.data))
      this.#view?.channel.pauseFor(drained(terminal.input));
  }
}

const takenOver = () =>
  new Problem(409, "TERMINAL_TAKEN_OVER", "Another connection has taken this terminal over.", {
    hint: "One client at a time is attached to a terminal. Open another one.",
  });
