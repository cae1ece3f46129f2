import { randomUUID } from "node:crypto";
import { type Sandbox, SandboxClient } from "cloud-sandbox";

/** Calls of all kinds without a pause, none of which is repeated when it fails. */
export class SteadyLoad {
  /** What failed, with the call's name. */
  readonly failures: string[] = [];
  readonly counts: Record<string, number> = {};
  /** Milliseconds that the longest call took, by its name. */
  readonly longest: Record<string, number> = {};
  readonly #client: SandboxClient;
  readonly #standing: Sandbox[] = [];
  #workers: Promise<void>[] = [];
  #isOver = false;

  constructor(baseUrl: string, apiKey: string) {
    this.#client = new SandboxClient({ baseUrl, apiKey, retry: false });
  }

  /** The sandboxes that are there all the time. */
  get standing(): readonly string[] {
    return this.#standing.map(({ id }) => id).sort();
  }

  get calls(): number {
    return Object.values(this.counts).reduce((sum, count) => sum + count, 0);
  }

  async begin(): Promise<void> {
    const create = () => this.#client.sandboxes.create({ template: "base", timeoutSeconds: 3600 });
    for (let count = 0; count < 2; count += 1) this.#standing.push(await create());
    const [one, other] = this.#standing as [Sandbox, Sandbox];
    await one.execute("count = 0");
    this.#workers = [
      () => this.#counting(one),
      () => this.#streaming(other),
      () => this.#files(other),
      () => this.#named(),
      () => this.#repeated(),
      () => this.#listing(),
    ].map((work) => this.#repeat(work));
  }

  /** Stops, deletes the standing sandboxes, and resolves with all that are left. */
  async end(): Promise<string[]> {
    this.#isOver = true;
    await Promise.all(this.#workers);
    for (const sandbox of this.#standing) await sandbox.delete();
    const left: string[] = [];
    for await (const { id } of this.#client.sandboxes.list()) left.push(id);
    await this.#client.close();
    return left;
  }

  async #repeat(work: () => Promise<void>): Promise<void> {
    while (!this.#isOver) await work().catch((error: unknown) => this.failures.push(String(error)));
  }

  async #call<Result>(name: string, call: Promise<Result>): Promise<Result> {
    const began = performance.now();
    const result = await call.catch((error: unknown) => {
      const seconds = Math.round((performance.now() - began) / 1000);
      throw new Error(`${name}, after ${seconds} s: ${error}`, { cause: error });
    });
    this.longest[name] = Math.max(this.longest[name] ?? 0, Math.round(performance.now() - began));
    this.counts[name] = (this.counts[name] ?? 0) + 1;
    return result;
  }

  #expect(name: string, actual: unknown, expected: unknown): void {
    if (JSON.stringify(actual) !== JSON.stringify(expected))
      throw new Error(`${name}: ${JSON.stringify(actual)} in place of ${JSON.stringify(expected)}`);
  }

  /** Executions of which each must be made once. */
  #count = 0;
  async #counting(sandbox: Sandbox): Promise<void> {
    const { stdout } = await this.#call("execute", sandbox.execute("count += 1; print(count)"));
    this.#count += 1;
    this.#expect("execute", stdout, `${this.#count}\n`);
  }

  async #streaming(sandbox: Sandbox): Promise<void> {
    const said = async (): Promise<string> => {
      let text = "";
      for await (const event of sandbox.executeStream(
        "import time\nfor i in range(4): print(i, flush=True); time.sleep(0.1)",
      ))
        if (event.type === "stdout") text += event.text;
      return text;
    };
    this.#expect("stream", await this.#call("stream", said()), "0\n1\n2\n3\n");
  }

  async #files(sandbox: Sandbox): Promise<void> {
    const text = randomUUID().repeat(1000);
    await this.#call("write", sandbox.files.write("/workspace/text", text));
    this.#expect("read", await this.#call("read", sandbox.files.readText("/workspace/text")), text);
  }

  async #named(): Promise<void> {
    const name = `named-${randomUUID().slice(0, 8)}`;
    const sandbox = await this.#call("create", this.#client.sandboxes.create({ template: "base", name }));
    const { stdout } = await this.#call("first execute", sandbox.execute("print(6 * 7)"));
    this.#expect("first execute", stdout, "42\n");
    await this.#call("delete", sandbox.delete());
  }

  /** Two creates with one key at the same time, which may reach two servers. */
  async #repeated(): Promise<void> {
    const headers = { "idempotency-key": randomUUID() };
    const create = async (): Promise<string> => {
      const { data, error } = await this.#client.controlPlane.POST("/v1/sandboxes", {
        ...{ body: { template_name: "base" }, headers },
      });
      if (!data?.id) throw new Error(JSON.stringify(error));
      return data.id;
    };
    const creates = ["first", "second"].map(() => this.#call("create with a key", create()));
    const [id = "", same] = await Promise.all(creates);
    this.#expect("create with a key", same, id);
    await this.#call("delete", this.#client.sandboxes.delete(id));
  }

  async #listing(): Promise<void> {
    const list = async (): Promise<string[]> => {
      const ids: string[] = [];
      for await (const { id, status } of this.#client.sandboxes.list())
        if (status === "running") ids.push(id);
      return ids;
    };
    const ids = await this.#call("list", list());
    const found = this.standing.filter((id) => ids.includes(id));
    this.#expect("list", found, this.standing);
  }
}
