import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { AgentSupervisor } from "../../src/agents/agent-supervisor.js";
import type { AgentAddress } from "../../src/runtime/agent-health.js";

/** Milliseconds within which a health check reaches the agent, also on a busy machine. */
const reach = 1500;

/** An agent that answers health checks as the test says, and counts them and its restarts. */
class SupervisedAgent implements AsyncDisposable {
  readonly id = "supervised";
  isPaused = false;
  isStopped = false;
  /** How the agent reacts to a health check. */
  manner: "answers" | "is silent" | "hangs up" = "answers";
  probes = 0;
  /** The number of health checks before each restart of the agent. */
  readonly restarts: number[] = [];
  readonly log: string[] = [];
  answer: () => void = () => undefined;
  readonly #answered = new Promise<string>((resolve) => {
    this.answer = () => resolve("answered");
  });

  private constructor(
    private readonly directory: string,
    readonly agentAddress: AgentAddress,
    readonly server: ReturnType<typeof createServer>,
  ) {}

  static async start(): Promise<SupervisedAgent> {
    const directory = await mkdtemp(join(tmpdir(), "supervisor-test-"));
    const socketPath = join(directory, "agent.sock");
    const server = createServer((request, response) => {
      agent.probes += 1;
      if (agent.manner === "answers") response.end("{}");
      else if (agent.manner === "hangs up") request.destroy();
    }).listen(socketPath);
    const agent = new SupervisedAgent(directory, { path: socketPath }, server);
    await once(server, "listening");
    return agent;
  }

  /** How often the supervisor asked the kernel whether the agent's process is stopped. */
  checks = 0;
  isAgentStopped = async (): Promise<boolean> => {
    this.checks += 1;
    return this.isStopped;
  };

  restartAgent = async (): Promise<void> => {
    this.restarts.push(this.probes);
  };

  supervisor(healthLimitsMs: readonly number[], healthCheckMs = 20): AgentSupervisor {
    const timing = { stoppedCheckMs: 20, healthCheckMs, healthLimitsMs };
    return new AgentSupervisor(this, (line) => this.log.push(line), timing);
  }

  /** A supervised call to the agent, which ends when the test calls `answer`. */
  call(probes: readonly number[], silence?: number): Promise<string> {
    return this.supervisor(probes, silence).supervise(this.#answered);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.answer();
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
    await rm(this.directory, { recursive: true, force: true });
  }
}

test("a silent call goes on as long as the agent answers health checks on another connection", async () => {
  await using agent = await SupervisedAgent.start();
  const call = agent.call([5000]);
  await expect.poll(() => agent.probes >= 5).toBe(true);
  agent.answer();
  expect(await call).toBe("answered");
  expect(agent.restarts).toEqual([]);
});

test("there is no health check while calls are answered in time, and none after the last one", async () => {
  await using agent = await SupervisedAgent.start();
  agent.answer();
  await agent.call([5000]);
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(agent.probes).toBe(0);
});

test("an agent that misses every health check is restarted, and the restart is logged", async () => {
  await using agent = await SupervisedAgent.start();
  agent.manner = "is silent";
  void agent.call([reach, reach]);
  await expect.poll(() => agent.restarts.length > 0).toBe(true);
  expect(agent.restarts[0]).toBe(2);
  expect(agent.log[0]).toMatch(/\bsupervised\b.*\brestarted\b/);
});

test("a stopped agent is restarted without a health check", async () => {
  await using agent = await SupervisedAgent.start();
  Object.assign(agent, { manner: "is silent", isStopped: true });
  void agent.call([60_000], 60_000);
  await expect.poll(() => agent.restarts.length > 0).toBe(true);
  expect(agent.restarts[0]).toBe(0);
});

test("an agent stopped during a health check is restarted before that check could end", async () => {
  await using agent = await SupervisedAgent.start();
  agent.manner = "is silent";
  void agent.call([60_000]);
  await expect.poll(() => agent.probes).toBe(1);
  agent.isStopped = true;
  await expect.poll(() => agent.restarts.length > 0).toBe(true);
});

test.each([
  ["is slow once", { manner: "is silent" }],
  ["breaks off, since it is being started", { manner: "hangs up" }],
] as const)("an agent that %s is not restarted", async (_, conduct) => {
  await using agent = await SupervisedAgent.start();
  Object.assign(agent, conduct);
  void agent.call([reach, 60_000]);
  await expect.poll(() => agent.probes >= 1).toBe(true);
  await expect.poll(() => agent.probes >= 2).toBe(true);
  agent.manner = "answers";
  const asked = agent.probes;
  agent.server.closeAllConnections();
  await expect.poll(() => agent.probes > asked + 1).toBe(true);
  expect(agent.restarts).toEqual([]);
});

test("a paused machine is not asked, nor blamed for what it did not answer before", async () => {
  await using agent = await SupervisedAgent.start();
  agent.manner = "is silent";
  void agent.call([2 * reach, 1]);
  await expect.poll(() => agent.probes === 1).toBe(true);
  agent.isPaused = true;
  await new Promise((resolve) => setTimeout(resolve, 2 * reach + 300));
  expect([agent.probes, agent.restarts]).toEqual([1, []]);
  Object.assign(agent, { isPaused: false, manner: "answers" });
  await expect.poll(() => agent.probes > 2).toBe(true);
  expect(agent.restarts).toEqual([]);
});

test("an agent is looked at while a call is open, however many calls there were before", async () => {
  await using agent = await SupervisedAgent.start();
  const supervisor = agent.supervisor([5000], 60_000);
  for (let call = 1; call <= 3; call += 1) {
    await supervisor.supervise(Promise.resolve("at once"));
    const before = agent.checks;
    let answer: () => void = () => undefined;
    const answered = supervisor.supervise(new Promise<void>((resolve) => (answer = resolve)));
    await expect.poll(() => agent.checks).toBeGreaterThan(before + 2);
    answer();
    await answered;
    // Allow one more check, which may have been under way when the call was answered.
    const after = agent.checks;
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(agent.checks).toBeLessThanOrEqual(after + 1);
  }
  expect(agent.probes).toBe(0);
});

test("an agent with many open calls gets one health check at a time", async () => {
  await using agent = await SupervisedAgent.start();
  let looks = 0;
  agent.isAgentStopped = () => {
    looks += 1;
    return new Promise(() => undefined);
  };
  const supervisor = agent.supervisor([5000]);
  for (let call = 0; call < 5; call += 1) void supervisor.supervise(new Promise(() => undefined));
  await expect.poll(() => looks).toBe(1);
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(looks).toBe(1);
});

test("an agent that answers gets health checks at a longer interval", async () => {
  await using agent = await SupervisedAgent.start();
  void agent.call([5000], 100);
  await expect.poll(() => agent.probes).toBe(2);
  expect(agent.checks).toBeGreaterThan(2);
});

test("an agent that cannot be restarted is reported in the log", async () => {
  await using agent = await SupervisedAgent.start();
  agent.isStopped = true;
  agent.restartAgent = async () => {
    throw new Error("no memory");
  };
  void agent.call([5000]);
  await expect.poll(() => agent.log[0]).toMatch(/^The agent of sandbox supervised could not be .*no memory$/);
});
