/** One server of one client: waits for its start, counts its calls, and ends it when it was idle for too long. */
import type { McpServerConfiguration } from "cloud-sandbox-mcp-runner/configuration";
import type { LogMessage, RunningServer, ServerCall, ServerEvents } from "./running-server.js";

/** Seconds that a sandbox lives after its server should have been closed, in case that this program is killed. */
const margin = 300;

export interface SlotParts {
  readonly configuration: McpServerConfiguration;
  /** The client that uses the server. */
  readonly owner: object;
  readonly start: (events: ServerEvents) => Promise<RunningServer>;
  /** Called once, when the server has ended or is being closed. */
  readonly onGone: (slot: ServerSlot) => void;
  readonly onListChange: () => void;
}

export class ServerSlot {
  readonly owner: object;
  /** The current step of the start. */
  step = "Starting";
  isRunning = false;
  usedAt = performance.now();
  readonly #parts: SlotParts;
  readonly #stop = new AbortController();
  readonly #waiting = new Set<ServerCall["report"]>();
  readonly #calls = new Set<Pick<ServerCall, "report" | "log">>();
  #idle: NodeJS.Timeout | undefined;
  #extendedAt = Number.NEGATIVE_INFINITY;
  #isGone = false;
  #started: Promise<RunningServer> | undefined;
  #closing: Promise<void> | undefined;

  constructor(parts: SlotParts) {
    this.#parts = parts;
    this.owner = parts.owner;
  }

  /** Whether the server is starting, or has running calls. */
  get isBusy(): boolean {
    return this.#calls.size > 0 || !this.isRunning;
  }

  /** Does `work` with the server, and waits for its start before. */
  async use<Result>(
    work: (server: RunningServer) => Promise<Result>,
    call: Pick<ServerCall, "report" | "log">,
  ): Promise<Result> {
    const { report } = call;
    this.#calls.add(call);
    clearTimeout(this.#idle);
    this.#waiting.add(report);
    try {
      const server = await this.#start().finally(() => this.#waiting.delete(report));
      void this.touch(server);
      return await work(server);
    } finally {
      this.#calls.delete(call);
      this.#rest();
    }
  }

  /** Moves the deadline of the sandbox, unless that was done recently. */
  async touch(server: RunningServer): Promise<void> {
    const now = performance.now();
    if (now - this.#extendedAt < (this.#idleSeconds * 1000) / 4) return;
    this.#extendedAt = now;
    // Ignore an error: the server then ends at its present deadline, and the next call starts it again.
    await server.extend(Math.min(this.#idleSeconds + margin, day)).catch(() => undefined);
  }

  /** Ends the server, and deletes its sandbox in the background. */
  leave(): void {
    this.close().catch(() => undefined);
  }

  /** Ends the server, or its start, and deletes its sandbox. */
  close(): Promise<void> {
    this.#gone();
    this.#stop.abort();
    const end = (server: RunningServer | undefined): Promise<void> | undefined => server?.close();
    this.#closing ??= Promise.resolve(this.#started).then(end, () => undefined);
    return this.#closing;
  }

  /** The server once it has started. Rejects if it does not start. */
  #start(): Promise<RunningServer> {
    this.#started ??= this.#parts
      .start({
        onStep: (step) => {
          this.step = step;
          for (const report of this.#waiting) report(step);
        },
        onEnd: () => this.leave(),
        onListChange: this.#parts.onListChange,
        onLog: (message) => this.#log(message),
        signal: this.#stop.signal,
      })
      .then(
        (server) => {
          this.isRunning = true;
          return server;
        },
        (error: unknown) => {
          this.#gone();
          throw error;
        },
      );
    return this.#started;
  }

  /** Passes a log message to one of the calls: they are all of the same client. */
  #log(message: LogMessage): void {
    const [log] = [...this.#calls].flatMap((call) => call.log ?? []);
    log?.(message);
  }

  get #idleSeconds(): number {
    return Math.ceil(this.#parts.configuration.timeoutMinutes * 60);
  }

  #rest(): void {
    this.usedAt = performance.now();
    clearTimeout(this.#idle);
    if (this.#calls.size > 0 || this.#isGone) return;
    this.#idle = setTimeout(() => this.leave(), this.#idleSeconds * 1000).unref();
  }

  #gone(): void {
    clearTimeout(this.#idle);
    if (this.#isGone) return;
    this.#isGone = true;
    this.#parts.onGone(this);
  }
}

const day = 86_400;
