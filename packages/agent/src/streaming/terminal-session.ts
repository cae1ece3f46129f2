import { StringDecoder } from "node:string_decoder";
import type { AgentSchemas } from "@cloud-sandbox/protocol";
import { type Operation, readClientFrame } from "@cloud-sandbox/server-kit";
import { errorFrame } from "@cloud-sandbox/server-kit/handlers";
import { drained } from "./drained.js";
import type { FrameChannel } from "./frame-channel.js";
import { PseudoTerminal, type TerminalStart } from "./pseudo-terminal.js";

type ServerFrame = AgentSchemas["TerminalServerFrame"];
type ClientFrame = AgentSchemas["TerminalClientFrame"];

/** A terminal over a WebSocket. It ends when the shell exits or the client disconnects. */
export class TerminalSession {
  #terminal: PseudoTerminal | undefined;
  /** Frames that arrived before the terminal was started. */
  readonly #early: ClientFrame[] = [];

  constructor(
    private readonly channel: FrameChannel<ServerFrame>,
    private readonly operation: Operation,
    place: TerminalStart,
  ) {
    channel.receive((text) => this.#take(text));
    void this.#run(place);
  }

  async #run(place: TerminalStart): Promise<void> {
    const { channel } = this;
    try {
      const terminal = await PseudoTerminal.start(place);
      const kill = () => void terminal.kill();
      if (channel.closed.aborted) return kill();
      channel.closed.addEventListener("abort", kill);
      this.#terminal = terminal;
      for (const frame of this.#early.splice(0)) this.#perform(terminal, frame);
      await this.#show(terminal);
      const code = await terminal.exit;
      // The shell exited by itself: background programs that it left keep running, as they do when a shell in a real
      // terminal exits.
      channel.closed.removeEventListener("abort", kill);
      void channel.send({ type: "exit", code });
    } catch (error) {
      void channel.send(errorFrame(error));
    }
    await channel.finish();
  }

  async #show({ output }: PseudoTerminal): Promise<void> {
    const decoder = new StringDecoder("utf8");
    for await (const chunk of output) await this.#output(decoder.write(chunk));
    await this.#output(decoder.end());
  }

  async #output(data: string): Promise<void> {
    if (data !== "") await this.channel.send({ type: "output", data });
  }

  #take(text: string): void {
    try {
      const frame = readClientFrame<ClientFrame>(text, this.operation);
      if (this.#terminal) this.#perform(this.#terminal, frame);
      else this.#early.push(frame);
    } catch (error) {
      void this.channel.send(errorFrame(error));
    }
  }

  #perform(terminal: PseudoTerminal, frame: ClientFrame): void {
    if (frame.type === "resize") terminal.resize(frame);
    else if (terminal.input.writable && !terminal.input.write(frame.data))
      this.channel.pauseFor(drained(terminal.input));
  }
}
