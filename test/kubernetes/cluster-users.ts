import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A sandbox, with what its users were told of it. */
export interface Known {
  readonly id: string;
  readonly agent: string;
  readonly token: string;
  state: "running" | "deleted";
  /** Its delete was not answered, so it may be gone. */
  mayBeDeleted: boolean;
  /** The texts that its file may hold: that of the last write that was acknowledged, and later ones that were not. */
  texts: readonly string[];
  isBusy: boolean;
}

const usualSandboxes = 5;
const file = "/workspace/marker";
const callLimitMs = 120_000;
const pauseMs = 100;

/** Users of servers that may be killed at any moment. They note what they were told, and repeat creates until they were told something. */
export class ClusterUsers {
  readonly known = new Map<string, Known>();
  readonly acknowledged: Record<string, number> = {};
  unanswered = 0;
  refused = 0;
  /** What should not have been. */
  readonly wrong: string[] = [];
  #working: Promise<void>[] = [];
  #isOver = true;

  constructor(
    private readonly url: string,
    private readonly apiKey: string,
    private readonly random: () => number,
  ) {}

  begin(users: number): void {
    this.#isOver = false;
    this.#working = Array.from({ length: users }, async () => {
      while (!this.#isOver) await this.#work();
    });
  }

  /** Resolves when no user has a call under way. */
  async pause(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#working);
  }

  get alive(): readonly Known[] {
    return [...this.known.values()].filter(({ state }) => state === "running");
  }

  /** Sends a request to the control plane. */
  call(method: string, path: string, body?: object, key?: string): Promise<Answer> {
    const headers = { "x-api-key": this.apiKey, ...(key !== undefined && { "idempotency-key": key }) };
    return send(this.url + path, method, headers, body);
  }

  /** Whether the sandbox's file is as it should be. */
  async hasItsFile({ agent, token, texts }: Known): Promise<boolean> {
    const body = { code: `cat ${file} || true`, language: "bash" };
    const { status, body: answer } = await send(`${agent}/execute`, "POST", bearer(token), body);
    return status === 200 && (texts.length === 0 || texts.includes(String(answer.stdout)));
  }

  async delete(sandbox: Known): Promise<void> {
    sandbox.mayBeDeleted = true;
    const answer = await this.#ask("delete", () => this.call("DELETE", `/v1/sandboxes/${sandbox.id}`));
    if (answer === undefined) return;
    if (answer.status < 300 || isGone(answer)) sandbox.state = "deleted";
    // A refusal says that nothing was changed.
    else sandbox.mayBeDeleted = false;
  }

  async #work(): Promise<void> {
    const free = this.alive.filter(({ isBusy, mayBeDeleted }) => !isBusy && !mayBeDeleted);
    const sandbox = free[Math.floor(this.random() * free.length)];
    const chance = this.random();
    if (!sandbox || (this.alive.length < usualSandboxes && chance < 0.5)) return this.#create();
    sandbox.isBusy = true;
    if (chance < 0.6) await this.delete(sandbox);
    else await this.#write(sandbox);
    sandbox.isBusy = false;
  }

  /** Repeats a create with its key until it is answered: together they make one sandbox. */
  async #create(): Promise<void> {
    const name = `chaos-${randomUUID()}`;
    const body = { template_name: "base", timeout_seconds: 7200, name };
    for (;;) {
      const answer = await this.#ask("create", () => this.call("POST", "/v1/sandboxes", body, name));
      if (answer === undefined || answer.status === 503) continue;
      if (answer.status >= 300) return void this.wrong.push(`create: ${describe(answer)}`);
      const { id, auth_token: token, public_host: host } = answer.body as Record<string, string>;
      if (this.known.has(String(id))) this.wrong.push(`two creates gave ${id}`);
      const agent = this.url + new URL(String(host)).pathname;
      this.known.set(String(id), {
        ...{ id: String(id), agent, token: String(token) },
        ...{ state: "running", mayBeDeleted: false, texts: [], isBusy: false },
      });
      return;
    }
  }

  async #write(sandbox: Known): Promise<void> {
    const content = randomUUID();
    const { texts, agent, token } = sandbox;
    sandbox.texts = texts.length === 0 ? ["", content] : [...texts, content];
    const body = { path: file, content };
    const answer = await this.#ask("write", () => send(`${agent}/files/write`, "POST", bearer(token), body));
    if (answer && answer.status < 300) sandbox.texts = [content];
  }

  /** The answer. Undefined if there was none. */
  async #ask(kind: string, ask: () => Promise<Answer>): Promise<Answer | undefined> {
    const answer = await ask().catch(() => undefined);
    if (answer === undefined) this.unanswered += 1;
    else if (answer.status < 300) this.acknowledged[kind] = (this.acknowledged[kind] ?? 0) + 1;
    else this.refused += 1;
    if (answer === undefined || answer.status >= 300) await sleep(pauseMs);
    return answer;
  }
}

export const isGone = ({ status }: Answer): boolean => status === 404 || status === 410;

export const describe = ({ status, body }: Answer): string =>
  `${status} ${JSON.stringify(body).slice(0, 300)}`;

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

async function send(url: string, method: string, headers: object, body?: object): Promise<Answer> {
  const response = await fetch(url, {
    ...{ method, headers: { ...headers, "content-type": "application/json" } },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(callLimitMs),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}
