import { AcceptedBuilds, type BuiltTemplate } from "./accepted-builds.js";
import type { AcceptedExecutions } from "./accepted-executions.js";
import { AcceptedSnapshots, type TakenSnapshot } from "./accepted-snapshots.js";
import { type Answer, agentCall, call } from "./api.js";
import { bubblewrap, type ChaosTarget } from "./chaos-target.js";
import type { Entry, Found, KnownState } from "./ledger.js";
import { Tally } from "./tally.js";

const mostSandboxes = 6;
const mostTemplates = 3;
const mostSnapshots = 4;
export const markerFile = "/workspace/marker";

/** The users of a server: they create, change and delete sandboxes, templates and snapshots, and record every answer. */
export class Workload {
  readonly entries = new Map<string, Entry>();
  readonly tally = new Tally();
  readonly builds = new AcceptedBuilds(this.tally);
  readonly snapshots = new AcceptedSnapshots(this.tally);
  #count = 0;

  constructor(
    private readonly random: () => number,
    private readonly executions: AcceptedExecutions,
    private readonly target: ChaosTarget = bubblewrap,
  ) {}

  /** Sends requests until one is not answered, or until `isEnough` returns true. */
  async work(url: string, isEnough: () => boolean = () => false): Promise<void> {
    const { unanswered } = this.tally;
    while (this.tally.unanswered === unanswered && !isEnough()) {
      const entry = this.#pick(this.#free());
      if (this.target.isBubblewrap && this.random() < 0.12) await this.#useTemplates(url);
      else if (this.target.isBubblewrap && this.random() < 0.1) await this.#useSnapshots(url);
      else if (!entry || (this.#hasRoom() && this.random() < 0.4)) await this.create(url);
      else await this.#useOne(url, entry);
    }
  }

  async delete(url: string, entry: Entry): Promise<void> {
    await this.#change(entry, "deleted", "delete", () => call(url, "DELETE", `/v1/sandboxes/${entry.id}`));
  }

  async start(url: string, entry: Entry): Promise<void> {
    await this.#change(entry, "running", "start", () => call(url, "POST", `/v1/sandboxes/${entry.id}/start`));
  }

  async #useOne(url: string, entry: Entry): Promise<void> {
    entry.isBusy = true;
    const act = (to: KnownState, verb: string): Promise<void> =>
      this.#change(entry, to, verb, () => call(url, "POST", `/v1/sandboxes/${entry.id}/${verb}`));
    const actions: Record<KnownState, readonly (() => Promise<void>)[]> = {
      running: [
        () => this.#write(entry),
        () => this.#write(entry),
        () => act("stopped", "stop"),
        () => act("stopped", "stop"),
        () => act("paused", "pause"),
        () => this.#keepFiles(url, entry),
        () => this.#keepFiles(url, entry),
        () => this.#restore(url, entry),
        () => this.#fork(url, entry),
        () => this.#move(url, entry),
        () => this.#background(entry),
        // It would be reported only when the run has ended, if its machine went on.
        () => (this.target.goesOn ? this.#keep(entry) : this.executions.start(this.tally, entry, undefined)),
        () => this.executions.start(this.tally, entry, `line-${this.#count}`),
        () => this.delete(url, entry),
      ],
      paused: [() => act("running", "resume"), () => this.delete(url, entry)],
      stopped: [
        () => this.start(url, entry),
        () => this.#wake(entry),
        () => this.#keepFiles(url, entry),
        () => this.#move(url, entry),
        () => this.delete(url, entry),
      ],
      deleted: [],
    };
    await this.#pick(actions[entry.state])?.();
    entry.isBusy = false;
  }

  /** Creates a sandbox. Resolves with undefined if the server refused or did not answer. */
  async create(url: string, template?: BuiltTemplate, snapshot?: TakenSnapshot): Promise<Entry | undefined> {
    this.#count += 1;
    const name = `chaos-${this.#count}`;
    const from = snapshot ? { snapshot: snapshot.id } : { template_name: template?.name ?? "base" };
    const body = { ...from, timeout_seconds: 3600, name, metadata: { name }, auto_start: true };
    const kind = snapshot ? "create from a snapshot" : "create";
    const answer = await this.tally.ask(kind, () => call(url, "POST", "/v1/sandboxes", body));
    return answer && this.#entry(url, answer.body, { name, template, written: snapshot?.text });
  }

  #entry(url: string, made: Answer["body"], known: Pick<Entry, "name" | "template" | "written">): Entry {
    const { id, auth_token, public_host, expires_at } = made as Record<string, string>;
    const entry: Entry = {
      id: String(id),
      token: String(auth_token),
      agentPath: new URL(String(public_host)).pathname,
      ...known,
      state: "running",
      perhaps: undefined,
      expiresAt: String(expires_at),
      mayHaveMoved: false,
      saved: undefined,
      kept: undefined,
      isBusy: false,
      url,
    };
    this.entries.set(entry.id, entry);
    return entry;
  }

  async #useTemplates(url: string): Promise<void> {
    const template = this.#pick(this.builds.free);
    if (!template || (this.builds.free.length < mostTemplates && this.random() < 0.5))
      return this.builds.start(url);
    template.isBusy = true;
    if (this.random() < 0.2) await this.builds.delete(url, template);
    else if ((await this.builds.isActive(url, template)) && this.#hasRoom()) await this.create(url, template);
    template.isBusy = false;
  }

  async #useSnapshots(url: string): Promise<void> {
    const snapshot = this.#pick(this.snapshots.free);
    if (!snapshot) return;
    snapshot.isBusy = true;
    if (this.random() < 0.3) await this.snapshots.delete(url, snapshot);
    else if (this.#hasRoom()) await this.create(url, undefined, snapshot);
    snapshot.isBusy = false;
  }

  async #keepFiles(url: string, entry: Entry): Promise<void> {
    if (!this.target.isBubblewrap || entry.template || this.snapshots.free.length >= mostSnapshots) return;
    if (entry.state === "running") await this.#write(entry);
    await this.snapshots.take(url, entry);
  }

  async #restore(url: string, entry: Entry): Promise<void> {
    const snapshot = this.#pick(this.snapshots.free);
    if (!snapshot || entry.template) return;
    snapshot.isBusy = true;
    entry.written = undefined;
    const answer = await this.tally.ask("restore", () =>
      call(url, "POST", `/v1/sandboxes/${entry.id}/restore`, { snapshot: snapshot.id }),
    );
    snapshot.isBusy = false;
    if (answer) entry.written = snapshot.text;
  }

  async #fork(url: string, entry: Entry): Promise<void> {
    if (!this.target.isBubblewrap || entry.template || !this.#hasRoom()) return;
    const answer = await this.tally.ask("fork", () =>
      call(url, "POST", `/v1/sandboxes/${entry.id}/fork`, { count: 1 }),
    );
    for (const { sandbox } of (answer?.body.data ?? []) as { sandbox?: Answer["body"] }[])
      if (sandbox)
        this.#entry(url, sandbox, { name: undefined, template: undefined, written: entry.written });
  }

  /** Uses a sandbox that is stopped, which starts it. */
  async #wake(entry: Entry): Promise<void> {
    const read = () => agentCall(entry, "GET", `/files/exists?path=${encodeURIComponent(markerFile)}`);
    await this.#change(entry, "running", "wake", read);
  }

  async #write(entry: Entry): Promise<void> {
    const content = `${this.#count}-${Math.floor(this.random() * 1e9)}`;
    const answer = await this.tally.ask("write", () =>
      agentCall(entry, "POST", "/files/write", { path: markerFile, content }),
    );
    entry.written = answer && content;
  }

  async #keep(entry: Entry): Promise<void> {
    const value = String(Math.floor(this.random() * 1e9));
    const body = { code: `kept = ${value}`, language: "python" };
    const answer = await this.tally.ask("variable", () => agentCall(entry, "POST", "/execute", body));
    entry.kept = answer && value;
  }

  async #background(entry: Entry): Promise<void> {
    await this.tally.ask("background execution", () =>
      agentCall(entry, "POST", "/execute/background", { code: "sleep 60", language: "bash" }),
    );
  }

  async #move(url: string, entry: Entry): Promise<void> {
    const timeout_seconds = 3000 + Math.floor(this.random() * 1000);
    entry.mayHaveMoved = true;
    const answer = await this.tally.ask(
      "timeout",
      () => call(url, "PUT", `/v1/sandboxes/${entry.id}/timeout`, { timeout_seconds }),
      () => {
        entry.mayHaveMoved = false;
      },
    );
    if (!answer) return;
    entry.expiresAt = String(answer.body.expires_at);
    entry.mayHaveMoved = false;
  }

  async #change(entry: Entry, to: KnownState, kind: string, ask: () => Promise<Answer>): Promise<void> {
    entry.perhaps = to;
    // A stop ends the processes first, also if nothing comes of it.
    if (to === "stopped") entry.kept = undefined;
    const goesOn = (): void => {
      entry.perhaps = undefined;
    };
    if (!(await this.tally.ask(kind, ask, goesOn))) return;
    entry.perhaps = undefined;
    entry.state = to;
    if (to === "stopped") entry.saved = entry.written;
  }

  #hasRoom(): boolean {
    return this.#alive().length < mostSandboxes;
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

export async function findSandbox(url: string, id: string): Promise<Found | undefined> {
  const { status, body } = await call(url, "GET", `/v1/sandboxes/${id}`);
  if (status === 404) return undefined;
  return { ...(body as object), status: status === 200 ? String(body.status) : `answered with ${status}` };
}
