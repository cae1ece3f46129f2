import { setTimeout as sleep } from "node:timers/promises";
import { SandboxClient } from "cloud-sandbox";
import { request } from "undici";
import { serve } from "../serve.mjs";

const pool = 2;

/** Two servers of one runtime: one that keeps machines booted, and one that does not. */
export class RuntimeServers {
  #made = [];

  static async start(...args) {
    const cold = await connected("--pool", "0", ...args);
    try {
      return new RuntimeServers(cold, await connected("--pool", String(pool), "--metrics", ...args));
    } catch (error) {
      await cold.stop();
      throw error;
    }
  }

  constructor(cold, warm) {
    this.cold = cold;
    this.warm = warm;
  }

  /** Creates a sandbox for which no machine waits. */
  boot(template) {
    return this.#create(this.cold, template);
  }

  /** Creates a sandbox for which a machine waits, and runs `node -v` in it. */
  async firstCommand() {
    const sandbox = await this.#create(this.warm);
    const { exitCode, stderr } = await sandbox.commands.run(["node", "-v"]);
    if (exitCode !== 0) throw new Error(`node -v ended with ${exitCode}: ${stderr}`);
  }

  /** Deletes what was created, and waits until machines wait. */
  async settle() {
    await Promise.all(this.#made.splice(0).map((sandbox) => sandbox.delete()));
    while ((await waiting(this.warm)) < pool) await sleep(20);
    // The machine finishes its other work.
    await sleep(200);
  }

  async stop() {
    await this.cold.stop();
    await this.warm.stop();
  }

  async #create({ client }, template = "code-interpreter") {
    const sandbox = await client.sandboxes.create({ template });
    this.#made.push(sandbox);
    return sandbox;
  }
}

async function connected(...args) {
  const server = await serve(...args);
  const client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
  const stop = async () => {
    await client.close();
    await server.stop();
  };
  return { client, server, stop };
}

/** How many machines wait in the server's pool. */
async function waiting({ server }) {
  const answer = await request(`${server.url}/metrics`, {
    headers: { authorization: `Bearer ${server.apiKey}` },
  });
  const text = await answer.body.text();
  const found = /pool_machines\{template="code-interpreter"\} (\d+)/.exec(text);
  return Number(found?.[1] ?? 0);
}
