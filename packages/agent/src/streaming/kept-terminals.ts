import { Problem } from "@cloud-sandbox/server-kit";
import type { TerminalSession } from "./terminal-session.js";

/** Milliseconds for which a terminal outlives a lost connection, if its client named a session. */
export const keptMs = 60_000;

/** The terminals that outlive their connections, by the names that their clients chose. */
export class KeptTerminals {
  readonly #sessions = new Map<string, TerminalSession>();

  /**
   * The terminal with that name. Throws a 404 problem if there is none and `received` says that the client was attached
   * to it before.
   */
  find(name: string | undefined, received: number | undefined): TerminalSession | undefined {
    const session = name === undefined ? undefined : this.#sessions.get(name);
    if (session === undefined && received !== undefined) throw name === undefined ? nameNeeded() : ended();
    return session;
  }

  add(name: string, session: TerminalSession): void {
    this.#sessions.set(name, session);
    void session.ended.then(() => this.#sessions.delete(name));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#sessions.values()].map((session) => session.close()));
  }
}

const ended = () =>
  new Problem(404, "TERMINAL_NOT_FOUND", "This terminal has ended.", {
    hint: `A terminal ends ${keptMs / 1000} s after its connection was lost, or with its sandbox. Open another terminal.`,
  });

const nameNeeded = () =>
  new Problem(400, "INVALID_REQUEST", "The parameter received is allowed only together with session.", {
    hint: "Send session, or leave received out to open a terminal.",
  });
