import { randomUUID } from "node:crypto";
import type { DocumentedOperation } from "../support/documents/contract-document.js";
import { FrameSocket } from "../support/frame-socket.js";
import { type LocalServer, startLocalServer } from "../support/local-server.js";
import { placeholders } from "./meaningful-values.js";
import { type RawAnswer, RawExchange } from "./raw-exchange.js";
import type { FuzzRequest } from "./request-arbitrary.js";

interface TargetSandbox {
  readonly id: string;
  readonly auth_token: string;
  readonly public_host: string;
}

const lifetimeSeconds = 3600;

/**
 * A server to fuzz, with three sandboxes: one for the agent's operations, one that requests may delete, and one that
 * must stay untouched.
 */
export class FuzzTarget {
  /** Texts that no answer may contain, among them the path of the agent's own files. */
  readonly secrets: readonly string[];
  readonly #exchange = new RawExchange();
  #expendable: TargetSandbox | undefined;
  #job = "";
  #build = "";

  private constructor(
    private readonly server: LocalServer,
    private readonly secret: string,
    private readonly main: TargetSandbox,
    private readonly bystander: TargetSandbox,
  ) {
    this.secrets = [secret, server.apiKey, "/tmp/.cloud-sandbox-state/"];
  }

  static async start(): Promise<FuzzTarget> {
    const apiKey = `key-${randomUUID()}`;
    const server = await startLocalServer({ apiKey, args: ["--pool", "2", "--max-sandboxes", "32"] });
    const secret = `secret-${randomUUID()}`;
    const main = await create(server, { FUZZ_SECRET: secret });
    const target = new FuzzTarget(server, secret, main, await create(server, {}));
    await target.#prepare();
    return target;
  }

  /** Sends a request to an operation, and deletes sandboxes that the request created. */
  async send(operation: DocumentedOperation, request: FuzzRequest): Promise<RawAnswer> {
    const { url, apiKey } = this.server;
    this.#expendable ??= await create(this.server, {});
    const ofAgent = operation.plane === "agent";
    const credentials = ofAgent
      ? { authorization: `Bearer ${this.main.auth_token}` }
      : { "x-api-key": apiKey };
    const target = request.target
      .replaceAll(encodeURIComponent(placeholders.sandbox), this.#expendable.id)
      .replaceAll(encodeURIComponent(placeholders.job), this.#job)
      .replaceAll(encodeURIComponent(placeholders.build), this.#build);
    const answer = await this.#exchange.send(url, {
      ...request,
      target: ofAgent ? new URL(this.main.public_host).pathname + target : target,
      headers: { ...(operation.secured && credentials), ...request.headers },
    });
    if (!ofAgent && request.method !== "GET") await this.#clearAway();
    return answer;
  }

  /** Opens a WebSocket. */
  open({ path }: DocumentedOperation): Promise<FrameSocket> {
    return FrameSocket.open(this.main.public_host + path, this.main.auth_token);
  }

  /**
   * Makes the files and the secret variable that requests should find, because earlier operations may have deleted
   * them.
   */
  async restore(): Promise<void> {
    const code =
      "cd /workspace; mkdir -p directory; echo text > text.txt; echo in > directory/in.txt; head -c 64 /dev/urandom > binary; [ -e fifo ] || mkfifo fifo; ln -sfn /etc link-out; ln -sfn loop loop";
    await agentJson(this.main, "POST", "/execute", { code, language: "bash" });
    await agentJson(this.main, "PATCH", "/env", { env_vars: { FUZZ_SECRET: this.secret }, merge: true });
  }

  /** Lists what no longer works after the run. */
  async damage(): Promise<string[]> {
    const damaged: string[] = [];
    for (const sandbox of [this.main, this.bystander]) {
      const run = await agentJson(sandbox, "POST", "/execute", { code: "print(6 * 7)", language: "python" });
      if (run.stdout !== "42\n") damaged.push(`${sandbox.id} answers ${JSON.stringify(run)}`);
    }
    const kept = await agentJson(this.bystander, "GET", "/files/read?path=kept.txt");
    if (kept.content !== "kept") damaged.push("the file of another sandbox has changed");
    const log = this.server.log().replace(/^Internet access of sandboxes .*\n/, "");
    if (log !== "") damaged.push(`the server logged: ${log.slice(0, 2000)}`);
    if (this.secrets.some((secret) => log.includes(secret))) damaged.push("the log holds a secret");
    return damaged;
  }

  async close(): Promise<void> {
    this.#exchange.close();
    await this.server.stop();
  }

  async #prepare(): Promise<void> {
    await agentJson(this.bystander, "POST", "/files/write", { path: "kept.txt", content: "kept" });
    const job = await agentJson(this.main, "POST", "/commands/background", {
      command: "sleep 600",
      timeout: 300,
    });
    this.#job = String(job.process_id);
    const steps = [{ type: "RUN", args: ["true"] }];
    const build = await controlPlane(this.server, "POST", "/v1/templates/build", {
      name: "built",
      from_image: "base",
      steps,
    });
    this.#build = String(build.build_id ?? "none");
  }

  /** Deletes sandboxes that a request created. Forgets the sandbox that requests may delete, if one has deleted it. */
  async #clearAway(): Promise<void> {
    const { data } = await controlPlane(this.server, "GET", "/v1/sandboxes?limit=1000");
    const sandboxes = data as { id: string; status: string }[];
    const kept = [this.main.id, this.bystander.id];
    const gone: string[] = [];
    for (const { id, status } of sandboxes) {
      if (kept.includes(id) || (id === this.#expendable?.id && status === "running")) continue;
      await controlPlane(this.server, "DELETE", `/v1/sandboxes/${id}`);
      gone.push(id);
    }
    const { id } = this.#expendable ?? {};
    if (!sandboxes.some((sandbox) => sandbox.id === id && !gone.includes(sandbox.id)))
      this.#expendable = undefined;
  }
}

async function create(server: LocalServer, variables: Record<string, string>): Promise<TargetSandbox> {
  const created = await controlPlane(server, "POST", "/v1/sandboxes", {
    template_name: "code-interpreter",
    timeout_seconds: lifetimeSeconds,
    env_vars: variables,
  });
  if (typeof created.id !== "string") throw new Error(`No sandbox was made: ${JSON.stringify(created)}`);
  return created as unknown as TargetSandbox;
}

const controlPlane = ({ url, apiKey }: LocalServer, method: string, path: string, body?: object) =>
  json(`${url}${path}`, method, { "X-API-Key": apiKey }, body);

const agentJson = ({ public_host, auth_token }: TargetSandbox, method: string, path: string, body?: object) =>
  json(`${public_host}${path}`, method, { Authorization: `Bearer ${auth_token}` }, body);

async function json(
  url: string,
  method: string,
  headers: Record<string, string>,
  body?: object,
): Promise<Readonly<Record<string, unknown>>> {
  const answer = await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  return (await answer.json()) as Readonly<Record<string, unknown>>;
}
