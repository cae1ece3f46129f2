import { describe, expect, test } from "vitest";
import type { Machine, MachineExit } from "../../src/runtime/sandbox-runtime.js";
import { WarmPool } from "../../src/sandboxes/warm-pool.js";

describe("a warm pool", () => {
  test("boots as many machines as it is told to, and hands out one that waits", async () => {
    const host = new Host();
    const pool = host.pool(2);
    pool.fill();
    await expect.poll(() => pool.ready).toBe(2);
    expect((await pool.claim()).id).toBe("1");
    await expect.poll(() => host.booted).toBe(3);
    await pool.close();
  });

  test("gives a machine to each of more callers than it has", async () => {
    const host = new Host();
    const pool = host.pool(1);
    pool.fill();
    const ids = await Promise.all([1, 2, 3].map(async () => (await pool.claim()).id));
    expect(new Set(ids).size).toBe(3);
    await pool.close();
  });

  test("does not hand out a machine that has ended while it waited, and replaces it", async () => {
    const host = new Host();
    const pool = host.pool(1);
    pool.fill();
    await expect.poll(() => pool.ready).toBe(1);
    await host.machines[0]?.destroy();
    await expect.poll(() => host.booted).toBe(2);
    expect((await pool.claim()).id).toBe("2");
    await pool.close();
  });

  test("prepares machines that wait, and none that somebody waits for", async () => {
    const host = new Host();
    const pool = host.pool(1);
    expect((await pool.claim()).id).toBe("1");
    await expect.poll(() => host.prepared).toEqual(["2"]);
    expect((await pool.claim()).id).toBe("2");
    await pool.close();
  });

  test("reports a failed boot, tries again, and lets a claim in between fail with its reason", async () => {
    const host = new Host();
    host.failure = new Error("no memory");
    const pool = host.pool(1);
    pool.fill();
    await expect.poll(() => host.failures[0]).toBe("no memory");
    await expect(pool.claim()).rejects.toThrow("no memory");
    host.failure = undefined;
    await expect.poll(() => pool.ready).toBe(1);
    await pool.close();
  });

  test("destroys waiting machines when it closes, also one that still boots", async () => {
    const host = new Host();
    const pool = host.pool(3);
    pool.fill();
    await expect.poll(() => pool.ready).toBe(3);
    await pool.claim();
    host.isHeld = true;
    await expect.poll(() => host.held).toBe(1);
    const closed = pool.close();
    host.isHeld = false;
    await closed;
    // Closing the pool does not end the machine that was claimed.
    expect({ booted: host.booted, running: host.running }).toEqual({ booted: 4, running: 1 });
  });

  test("boots one machine at a time, and none while there is more urgent work", async () => {
    const host = new Host();
    const pool = host.pool(3);
    pool.fill();
    await expect.poll(() => pool.ready).toBe(3);
    expect(host.mostAtATime).toBe(1);
    host.isBusy = true;
    for (let claimed = 0; claimed < 4; claimed += 1) await pool.claim();
    // The pool had three machines. The fourth was booted because a claim waited for it.
    expect(host.booted).toBe(4);
    host.isBusy = false;
    await expect.poll(() => pool.ready).toBe(3);
    await pool.close();
  });

  test("grows and shrinks with the size that it is given", async () => {
    const host = new Host();
    const pool = host.pool(0);
    pool.fill();
    await pool.resize(2);
    await expect.poll(() => pool.ready).toBe(2);
    await pool.resize(1);
    expect({ ready: pool.ready, running: host.running }).toEqual({ ready: 1, running: 1 });
    await pool.close();
    expect(host.running).toBe(0);
  });
});

test("a warm pool does not hand out a machine that was booted before the host's packages changed", async () => {
  const host = new Host();
  const pool = host.pool(1);
  pool.fill();
  await expect.poll(() => pool.ready).toBe(1);
  host.packages = "with one more";
  expect((await pool.claim()).id).toBe("2");
  await pool.close();
});

test("a warm pool hands out a new machine though an outdated one leaves something behind", async () => {
  const host = new Host();
  const pool = host.pool(1);
  pool.fill();
  await expect.poll(() => pool.ready).toBe(1);
  host.packages = "with one more";
  for (const machine of host.machines)
    machine.destroy = () => Promise.reject(new Error("the directory is busy"));
  expect((await pool.claim()).id).toBe("2");
  await pool.close();
});

/**
 * Stands in for the host of a pool. Its machines are only state, because these tests are about who gets a machine and
 * when.
 */
class Host {
  readonly machines: Machine[] = [];
  readonly failures: string[] = [];
  /** The ids of the machines that began to wait. */
  readonly prepared: string[] = [];
  failure: Error | undefined;
  booted = 0;
  running = 0;

  packages = "as they were";
  /** Whether a boot waits until this is false again. */
  isHeld = false;
  held = 0;
  /** Whether the pool should not boot machines in advance now. */
  isBusy = false;
  /** The largest number of machines that were booted in advance at the same time. */
  mostAtATime = 0;
  #atATime = 0;

  pool(size: number): WarmPool {
    return new WarmPool({
      size,
      boot: () => this.#boot(),
      onWaiting: async ({ id }) => void this.prepared.push(id),
      hasRoom: () => true,
      packages: () => this.packages,
      whenIdle: async (work) => {
        while (this.isBusy) await new Promise((resolve) => setTimeout(resolve, 5));
        this.#atATime += 1;
        this.mostAtATime = Math.max(this.mostAtATime, this.#atATime);
        await work();
        this.#atATime -= 1;
      },
      onBootFailure: (error) => this.failures.push((error as Error).message),
    });
  }

  async #boot(): Promise<Machine> {
    await new Promise((resolve) => setImmediate(resolve));
    if (this.isHeld) this.held += 1;
    while (this.isHeld) await new Promise((resolve) => setTimeout(resolve, 5));
    if (this.failure) throw this.failure;
    this.booted += 1;
    this.running += 1;
    let end: (exit: MachineExit) => void = () => undefined;
    const exited = new Promise<MachineExit>((resolve) => {
      end = resolve;
    });
    const machine: Machine = {
      id: String(this.booted),
      isolation: "namespace",
      agentAddress: { path: "" },
      exited,
      pause: async () => undefined,
      keep: async () => undefined,
      resume: async () => undefined,
      isPaused: false,
      isAgentStopped: async () => false,
      restartAgent: async () => undefined,
      destroy: async () => {
        this.running -= 1;
        end({ reason: "killed", message: "" });
      },
    };
    this.machines.push(machine);
    return machine;
  }
}
