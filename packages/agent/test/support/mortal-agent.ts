import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { eventually } from "./eventually.js";
import { publicKey, signToken } from "./tokens.js";

const built = fileURLToPath(new URL("../../dist/main.cjs", import.meta.url));
const sandboxId = "1700000000abcdefgh";

/** A token that the agent accepts. */
export const mortalToken = () => signToken({ sub: sandboxId });

/** The built agent in a process of its own, which can be killed and started again with the same files. */
export class MortalAgent implements AsyncDisposable {
  #child: ChildProcess | undefined;

  private constructor(readonly home: string) {}

  static async start(): Promise<MortalAgent> {
    if (!existsSync(built))
      throw new Error("packages/agent/dist/main.cjs is missing: build the package first.");
    const agent = new MortalAgent(await mkdtemp(join(tmpdir(), "mortal-agent-")));
    await Promise.all([mkdir(agent.workspace), mkdir(agent.temporary)]);
    await agent.start();
    return agent;
  }

  get socket(): string {
    return join(this.home, "agent.sock");
  }

  get workspace(): string {
    return join(this.home, "workspace");
  }

  get temporary(): string {
    return join(this.home, "tmp");
  }

  /** The directory whose contents the agent uses when it is started again. */
  get state(): string {
    return join(this.temporary, ".cloud-sandbox-state");
  }

  async start(): Promise<void> {
    const config = JSON.stringify({
      sandboxId,
      publicKey: await publicKey(),
      listen: { socket: this.socket },
      roots: [this.workspace, this.temporary],
    });
    this.#child = spawn(process.execPath, [built, "--config", config], { stdio: "ignore" });
    await eventually("it answers", () =>
      this.call("GET", "/health").then(
        () => true,
        () => false,
      ),
    );
  }

  /** Kills the agent, as code in a sandbox may do, and waits for its end. */
  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, "exit");
    child.kill(signal);
    await exit;
    await rm(this.socket, { force: true });
  }

  async restart(signal?: NodeJS.Signals): Promise<void> {
    await this.kill(signal);
    await this.start();
  }

  async call<Body = Record<string, unknown>>(
    method: string,
    path: string,
    body?: object,
  ): Promise<{ status: number; body: Body }> {
    const outgoing = request({
      socketPath: this.socket,
      agent: false,
      method,
      path,
      headers: { authorization: `Bearer ${await mortalToken()}` },
    });
    outgoing.end(body && JSON.stringify(body));
    const [incoming] = await once(outgoing, "response");
    return {
      status: incoming.statusCode,
      body: JSON.parse(Buffer.concat(await incoming.toArray()).toString()),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    await rm(this.home, { recursive: true, force: true, maxRetries: 5 });
  }
}
