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
 * Bytes of output that are kept. More than is ever in flight to a client, so that a client that lost its connection and
 * attaches again misses no output.
 */
const keptBytes = 256 * 1024;
/** Characters of input after which the client gets a frame that acknowledges them, if no output frame did. */
const acknowledgeEvery = 64 * 1024;
/** WebSocket close code of a client that no longer needs the terminal. */
const closedOnPurpose = 1000;

export interface TerminalOptions {
  readonly operation: Operation;
  /** Milliseconds for which the terminal outlives a lost connection; 0 if it ends with its connection. */
  readonly reconnectMs: number;
}

/** A connection that is attached to a terminal. */
export interface Attachment {
  /** Bytes of output that the client has already received. */
  readonly received?: number | undefined;
  readonly size?: TerminalSize;
}

/**
 * A shell in a pseudo-terminal, and the client that is attached to it. The session ends when the shell exits, when the
 * client closes it, and when no client was attached for longer than `reconnectMs`.
 */
export class TerminalSession {
  /** Resolves when no client can attach any more. */
  readonly ended: Promise<void>;
  readonly #output = { window: new ByteWindow(keptBytes, 0), isComplete: false };
  /** The frame that follows the last output. */
  readonly #last: Promise<ServerFrame>;
  #end: () => void = () => undefined;
  #isOver = false;
  #terminal: PseudoTerminal | undefined;
  #view: TerminalView | undefined;
  #reconnectTimer: NodeJS.Timeout | undefined;
  /** Frames that arrived before the terminal was started. */
  readonly #early: ClientFrame[] = [];
  /** Number of the last input frame that was accepted. */
  #accepted = 0;
  /** Characters of accepted input that no frame has acknowledged to the client yet. */
  #unacknowledged = 0;

  constructor(
    start: TerminalStart,
    private readonly options: TerminalOptions,
  ) {
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.#last = this.#run(start);
  }

  /** Attaches a client, and detaches the one that was attached before. */
  attach(channel: FrameChannel<ServerFrame>, { received = 0, size }: Attachment = {}): void {
    clearTimeout(this.#reconnectTimer);
    this.#view?.detach(errorFrame(takenOver()));
    const { total, limit } = this.#output.window;
    const position = Math.min(total, Math.max(received, total - limit));
    const view = new TerminalView(channel, this.#output, (data, end) => this.#frame(data, end), position);
    this.#view = view;
    if (this.#isKept) {
      this.#unacknowledged = 0;
      void channel.send({
        type: "attached",
        kept_seconds: this.options.reconnectMs / 1000,
        taken: this.#accepted,
        skipped_bytes: Math.max(0, position - received),
      });
    }
    if (size) this.#terminal?.resize(size);
    channel.receive((text) => {
      if (this.#view === view) this.#take(text, view);
    });
    const onClosed = () => {
      if (this.#view === view) this.#clientLeft(channel.closeCode);
    };
    if (channel.closed.aborted) onClosed();
    else {
      channel.closed.addEventListener("abort", onClosed);
      void this.#serve(view);
    }
  }

  /** Kills the shell and everything that was started in it. */
  async close(): Promise<void> {
    clearTimeout(this.#reconnectTimer);
    this.#isOver = true;
    this.#end();
    await this.#terminal?.kill();
  }

  get #isKept(): boolean {
    return this.options.reconnectMs > 0;
  }

  /** Runs the shell. Resolves when all output was read, with the frame that says how it ended. */
  async #run(start: TerminalStart): Promise<ServerFrame> {
    const { window } = this.#output;
    try {
      const terminal = await PseudoTerminal.start(start);
      this.#terminal = terminal;
      // The client left while the terminal was started.
      if (this.#isOver) await terminal.kill();
      for (const frame of this.#early.splice(0)) this.#perform(terminal, frame);
      for await (const chunk of terminal.output) {
        // The shell waits for the attached client before and after each chunk, so that no chunk pushes output out of the
        // window that the client has not received yet.
        await this.#shown();
        window.push(chunk);
        await this.#shown();
      }
      const code = await terminal.exit;
      // The shell exited by itself: do not kill its background programs. They outlive a shell in a real terminal too.
      this.#terminal = undefined;
      return { type: "exit", code };
    } catch (error) {
      return errorFrame(error);
    } finally {
      this.#output.isComplete = true;
    }
  }

  /** Resolves when the attached client has received all output, or no client is attached. */
  async #shown(): Promise<void> {
    for (let view = this.#view; view; view = view === this.#view ? undefined : this.#view) await view.show();
  }

  /** Sends the kept output, and after the shell's end the last frame. */
  async #serve(view: TerminalView): Promise<void> {
    void view.show();
    const last = await this.#last;
    if (this.#view !== view) return;
    await view.show();
    await view.channel.send(last);
    // If the connection was lost, the client may attach again to get the last frame.
    if (!view.channel.closed.aborted) this.#end();
    await view.channel.finish();
  }

  #clientLeft(closeCode: number | undefined): void {
    this.#view = undefined;
    if (!this.#isKept || closeCode === closedOnPurpose) void this.close();
    else this.#reconnectTimer = setTimeout(() => void this.close(), this.options.reconnectMs).unref();
  }

  #frame(data: string, position: number): ServerFrame {
    if (!this.#isKept) return { type: "output", data };
    this.#unacknowledged = 0;
    return { type: "output", data, position, taken: this.#accepted };
  }

  #take(text: string, { channel, shown }: TerminalView): void {
    try {
      const frame = readClientFrame<ClientFrame>(text, this.options.operation);
      if (frame.type === "input" && frame.number !== undefined && this.#isKept) {
        if (frame.number <= this.#accepted) return;
        this.#accepted = frame.number;
        this.#unacknowledged += frame.data.length;
      }
      if (this.#terminal) this.#perform(this.#terminal, frame);
      else this.#early.push(frame);
      if (this.#unacknowledged >= acknowledgeEvery) void channel.send(this.#frame("", shown));
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
    hint: "Only one client at a time is attached to a terminal. Open another terminal.",
  });
