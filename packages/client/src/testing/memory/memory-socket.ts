import type { WebSocketLike } from "../../transport/sockets/sockets.js";

type Listener = (event: never) => void;

/** The client's side of a WebSocket that stays in memory. */
export class MemorySocket implements WebSocketLike {
  binaryType = "blob";
  readonly bufferedAmount = 0;
  readonly #listeners = new Map<string, Set<Listener>>();
  #server: ServerSocket | undefined;
  #isOver = false;

  /** `connect` resolves with the function that serves the socket, and rejects if nothing does. */
  constructor(connect: Promise<(socket: ServerSocket) => void>) {
    connect.then(
      (attend) => this.#open(attend),
      () => {
        this.#emit("error", {});
        this.#end(1006, "");
      },
    );
  }

  send(text: string): void {
    const server = this.#server;
    // Deliver asynchronously, as a network does.
    queueMicrotask(() => server?.take(text));
  }

  close(code = 1000): void {
    this.#server?.left();
    queueMicrotask(() => this.#end(code, ""));
  }

  addEventListener(type: string, listener: Listener): void {
    const listeners = this.#listeners.get(type) ?? new Set();
    this.#listeners.set(type, listeners.add(listener));
  }

  #open(attend: (socket: ServerSocket) => void): void {
    if (this.#isOver) return;
    const server = new ServerSocket(
      (data) => queueMicrotask(() => this.#emit("message", { data })),
      (code) => queueMicrotask(() => this.#end(code, "")),
    );
    this.#server = server;
    this.#emit("open", {});
    attend(server);
  }

  #end(code: number, reason: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#emit("close", { code, reason });
  }

  #emit(type: string, event: object): void {
    if (this.#isOver && type !== "close") return;
    for (const listener of this.#listeners.get(type) ?? []) listener(event as never);
  }
}

/** The service's side of the same WebSocket. */
export class ServerSocket {
  readonly #end = new AbortController();
  #receive: (text: string) => void = () => undefined;

  constructor(
    private readonly deliver: (text: string) => void,
    private readonly finish: (code: number) => void,
  ) {}

  /** Aborts when the client has closed the socket, or the service has ended it. */
  get closed(): AbortSignal {
    return this.#end.signal;
  }

  receive(listener: (text: string) => void): void {
    this.#receive = listener;
  }

  send(frame: object): void {
    if (!this.closed.aborted) this.deliver(JSON.stringify(frame));
  }

  close(code = 1000): void {
    if (this.closed.aborted) return;
    this.#end.abort();
    this.finish(code);
  }

  /** Receives a message from the client. */
  take(text: string): void {
    if (!this.closed.aborted) this.#receive(text);
  }

  /** Called when the client closes the socket. */
  left(): void {
    this.#end.abort();
  }
}
