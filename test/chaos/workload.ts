import { apiKey } from "./chaos-server.js";
import type { Entry, Found, KnownState } from "./ledger.js";

const mostSandboxes = 6;
const markerFile = "/workspace/marker";

/** Several users of one server, who note what they were told. */
export class Workload {
  readonly entries = new Map<string, Entry>();
  acknowledged = 0;
  /** Asked for and never answered, because the server was killed. */
  unanswered = 0;
  /** Answers that nobody should get. */
  readonly refusals: string[] = [];
  #count = 0;

  constructor(private readonly random: () => number) {}

  /** Works until the server does not answer. */
  async work(url: string): Promise<void> {
    const { unanswered } = this;
    while (this.unanswered === unanswered) {
      const entry = this.#pick(this.#free());
      if (!entry || (this.#alive().length < mostSandboxes && this.random() < 0.4)) await this.#create(url);
      else await this.#useOne(url, entry);
    }
  }

  async delete(url: string, entry: Entry): Promise<void> {
    await this.#change(entry, "deleted", () => call(url, "DELETE", `/v1/sandboxes/${entry.id}`));
  }

  async start(url: string, entry: Entry): Promise<void> {
    await this.#change(entry, "running", () => call(url, "POST", `/v1/sandboxes/${entry.id}/start`));
  }

  async #useOne(url: string, entry: Entry): Promise<void> {
    entry.isBusy = true;
    const act = (verb: string): Promise<Answer> => call(url, "POST", `/v1/sandboxes/${entry.id}/${verb}`);
    const actions: Record<KnownState, readonly (() => Promise<void>)[]> = {
      running: [
        () => this.#write(entry),
        () => this.#write(entry),
        () => this.#change(entry, "stopped", () => act("stop")),
        () => this.#change(entry, "stopped", () => act("stop")),
        () => this.#change(entry, "paused", () => act("pause")),
        () => this.#move(url, entry),
        () => this.#background(entry),
        () => this.delete(url, entry),
      ],
      paused: [() => this.#change(entry, "running", () => act("resume")), () => this.delete(url, entry)],
      stopped: [
        () => this.start(url, entry),
        () => this.start(url, entry),
        () => this.#move(url, entry),
        () => this.delete(url, entry),
      ],
      deleted: [],
    };
    await this.#pick(actions[entry.state])?.();
    entry.isBusy = false;
  }

  async #create(url: string): Promise<void> {
    this.#count += 1;
    const name = `chaos-${this.#count}`;
    const body = { template_name: "base", timeout_seconds: 3600, name, metadata: { name } };
    const answer = await this.#ask(() => call(url, "POST", "/v1/sandboxes", body));
    if (!answer) return;
    const { id, auth_token, public_host, expires_at } = answer.body as Record<string, string>;
    this.entries.set(String(id), {
      id: String(id),
      token: String(auth_token),
      agentPath: new URL(String(public_host)).pathname,
      name,
      state: "running",
      perhaps: undefined,
      expiresAt: String(expires_at),
      mayHaveMoved: false,
      written: undefined,
      saved: undefined,
      isBusy: false,
      url,
    });
  }

  async #write(entry: Entry): Promise<void> {
    const content = `${this.#count}-${Math.floor(this.random() * 1e9)}`;
    const answer = await this.#ask(() =>
      agentCall(entry, "POST", "/files/write", { path: markerFile, content }),
    );
    if (answer) entry.written = content;
  }

  async #background(entry: Entry): Promise<void> {
    await this.#ask(() =>
      agentCall(entry, "POST", "/execute/background", { code: "sleep 60", language: "bash" }),
    );
  }

  async #move(url: string, entry: Entry): Promise<void> {
    const timeout_seconds = 3000 + Math.floor(this.random() * 1000);
    entry.mayHaveMoved = true;
    const answer = await this.#ask(() =>
      call(url, "PUT", `/v1/sandboxes/${entry.id}/timeout`, { timeout_seconds }),
    );
    if (!answer) return;
    entry.expiresAt = String(answer.body.expires_at);
    entry.mayHaveMoved = false;
  }

  async #change(entry: Entry, to: KnownState, ask: () => Promise<Answer>): Promise<void> {
    entry.perhaps = to;
    if (!(await this.#ask(ask))) return;
    entry.perhaps = undefined;
    entry.state = to;
    if (to === "stopped") entry.saved = entry.written;
  }

  /** The answer, or undefined when there was none. */
  async #ask(ask: () => Promise<Answer>): Promise<Answer | undefined> {
    let answer: Answer;
    try {
      answer = await ask();
    } catch {
      this.unanswered += 1;
      return undefined;
    }
    if (answer.status < 300) {
      this.acknowledged += 1;
      return answer;
    }
    this.refusals.push(`${answer.status} ${JSON.stringify(answer.body).slice(0, 300)}`);
    return undefined;
  }

  #alive(): Entry[] {
    return [...this.entries.values()].filter(({ state }) => state !== "deleted");
  }

  #free(): Entry[] {
    return this.#alive().filter(({ isBusy, perhaps }) => !isBusy && perhaps === undefined);
  }

  #pick<Item>(items: readonly Item[]): Item | undefined {
    return items[Math.floor(this.random() * items.length)];
  }
}

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export async function call(url: string, method: string, path: string, body?: object): Promise<Answer> {
  const response = await fetch(url + path, {
    method,
    headers: { "X-API-Key": apiKey, "Content-Type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(30_000),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

/** With the token from its create, whichever server answers now. */
async function agentCall(entry: Entry, method: string, path: string, body?: object): Promise<Answer> {
  const response = await fetch(entry.url + entry.agentPath + path, {
    method,
    headers: { Authorization: `Bearer ${entry.token}`, "Content-Type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(30_000),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

export async function readMarker(entry: Entry): Promise<string> {
  const { status, body } = await agentCall(entry, "GET", `/files/read?path=${markerFile}`);
  return status === 200 ? String(body.content) : `${status} ${String(body.code)}`;
}

export async function findSandbox(url: string, id: string): Promise<Found | undefined> {
  const { status, body } = await call(url, "GET", `/v1/sandboxes/${id}`);
  if (status === 404) return undefined;
  return { ...(body as object), status: status === 200 ? String(body.status) : `answered with ${status}` };
}
